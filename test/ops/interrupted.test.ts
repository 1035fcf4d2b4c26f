import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Rule } from '../../local/aws/gate.ts';
import { queues } from '../scaffold/deployment.ts';
import { Duty, raisedEach, raisedOnce } from './duty.ts';
import { twoAtATime } from './two-at-a-time.ts';

const duty = new Duty();
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());

const goesOn = 'The call in progress goes on in AWS to its end, within a minute;';

/**
 * Runs a command, and presses Ctrl-C while the function is at this call.
 *
 * @param call counted from 1
 * @returns once the function has also ended
 */
async function interrupted(
  args: string,
  {
    call = 1,
    others = ({ forward }) => forward(),
    input = '',
  }: { call?: number; others?: Rule; input?: string } = {},
) {
  const program = duty.start(args);
  program.input.end(input);
  for (let passed = 1; passed < call; passed += 1) duty.lambda.once(duty.invocation, others);
  let isReached = false;
  const { promise: carriedOut, resolve } = Promise.withResolvers<void>();
  duty.lambda.once(duty.invocation, async ({ forward }) => {
    isReached = true;
    program.interrupt();
    // The program ends at once. The function continues.
    await program.ended;
    const reply = await forward();
    resolve();
    return reply;
  });
  const ended = await program.ended;
  if (!isReached) throw new Error(`ended before that call: ${JSON.stringify(ended)}`);
  await carriedOut;
  return ended;
}

async function flood(): Promise<void> {
  const { stage } = duty;
  await stage.completedTick();
  for (let index = 0; index < 3; index += 1)
    stage.sandbox.world.add({ organization_id: stage.filtered, certified_on: '2019-05-06' });
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
}

describe('Ctrl-C during a call', () => {
  raisedOnce(duty, () => duty.stage.completedTick());

  it.each([
    'tick',
    'pause --reason maintenance',
    'resume',
    'accept-total 3 --yes',
    'baseline --restart --yes',
  ])('of %s says that the call continues, and where its outcome is shown', async (args) => {
    const { exitCode, stdout, stderr } = await interrupted(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(stderr).toContain(`error: Interrupted.\n  ${goesOn} status --history shows`);
  });

  it('of test-event says that the event may be sent', async () => {
    const { exitCode, stderr } = await interrupted('test-event');
    expect(exitCode).toBe(130);
    expect(stderr).toContain(`${goesOn} the test event may be sent.`);
    expect(await duty.stage.events(queues.everything)).toHaveLength(1);
  });

  it.each(['status', 'check', 'explain 5', 'holds', 'baseline', 'replay --all --dry-run'])(
    'of %s says that nothing was changed',
    async (args) => {
      const { exitCode, stdout, stderr } = await interrupted(args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
      expect(stderr).toContain('Nothing was changed.');
      expect(stderr).not.toContain('goes on');
    },
  );
});

describe('Ctrl-C during a replay', () => {
  raisedEach(duty, async () => {
    await flood();
    await duty.run('release --yes');
    await duty.stage.completedTick();
    await duty.stage.events(queues.everything);
  });

  it('does not say that nothing was sent, and prints the command line that continues', async () => {
    const { exitCode, stdout, stderr } = await interrupted('replay --all');
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(stderr).not.toContain('Nothing was sent');
    expect(stderr).toContain(goesOn);
    expect(stderr).toContain('status --history');
    const [, next = ''] = /certification-notifier (replay .*)$/m.exec(stderr) ?? [];
    const { operation } = JSON.parse(/--next '(.*)'/.exec(next)?.[1] ?? '{}');
    expect(operation).toEqual(expect.any(String));

    expect(await duty.stage.events(queues.everything)).toHaveLength(3);
    expect((await duty.json('status --history')).result).toMatchObject([
      { history: [{ command: 'replay', operation: expect.stringContaining(operation) }, {}] },
    ]);
    expect(await duty.runAnywhere(next.replaceAll("'", ''))).toMatchObject({ exitCode: 0 });
    const { result: after } = await duty.json('status --history');
    expect(after).toMatchObject([{ history: [{ command: 'replay' }, { command: 'release' }] }]);
  });

  it('reports the events that earlier calls have sent', async () => {
    const { stderr } = await interrupted('replay --all', { call: 2, others: twoAtATime(duty) });
    expect(stderr).toMatch(/^2 events sent: 2 created\n/);
    expect(stderr).toContain(goesOn);
    expect(stderr).toContain('"after":"2019-05-06/');
  });

  it('while AWS does not start the next call reports the work done, and that the rest has not begun', async () => {
    const program = duty.start('replay --all');
    duty.lambda.once(duty.invocation, twoAtATime(duty));
    duty.lambda.always(async () => ({
      status: 429,
      type: 'application/json',
      body: '{"__type":"TooManyRequestsException"}',
    }));
    await program.shows(/ is given again /);
    program.interrupt();
    const { exitCode, stderr } = await program.ended;
    expect(exitCode).toBe(130);
    expect(stderr).toContain('\n2 events sent: 2 created\n');
    expect(stderr).toContain('Nothing is under way any more: the rest was not begun.');
    expect(stderr).toContain('"after":"2019-05-06/');
  });
});

describe('a connection that breaks within a call', () => {
  raisedOnce(duty, flood);

  it.each([
    ['pause --reason maintenance', 'status --history shows the outcome.'],
    ['test-event', 'the test event may be sent.'],
    ['discard --yes', 'holds shows the events that are left.'],
  ])('of %s says that the call may continue, and where that shows', async (args, where) => {
    // Calls that only count are answered.
    const changes = ({ body }: { body: string }) => !/"command":"holds"/.test(body);
    duty.lambda.always(async (call) => (changes(call) ? undefined : call.forward()));
    const { exitCode, stdout, stderr } = await duty.run(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
    expect(stderr).toContain(`It may go on in AWS to its end, within a minute; ${where}`);
    expect(stderr).toContain('(answer-lost)');
    expect(stderr.includes('--next')).toBe(args.startsWith('discard'));
  });

  it('of a read-only command says that it failed', async () => {
    duty.lambda.always(async () => undefined);
    const { exitCode, stderr } = await duty.run('status');
    expect(exitCode).toBe(5);
    expect(stderr).toContain('(aws-failed)');
  });
});

describe('Ctrl-C during a decision', () => {
  raisedOnce(duty, flood);

  it.each(['release', 'discard'])(
    'that is still counting (%s) says that nothing was changed',
    async (name) => {
      const { exitCode, stderr } = await interrupted(`${name} --yes`);
      expect(exitCode).toBe(130);
      expect(stderr).toContain('error: Interrupted.\n  Nothing was changed.');
      expect(stderr).not.toContain('--next');
      expect(await duty.json('holds')).toMatchObject({ result: { events: 3 } });
    },
  );

  it('that is still counting says so to machines, too', async () => {
    const { stdout } = await interrupted('discard --yes --json');
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      problem: {
        code: 'interrupted',
        fault: 'ops',
        message: 'Interrupted.',
        retryHelps: true,
        whatToDo: 'Nothing was changed.',
      },
    });
  });
});

describe('Ctrl-C while a decision is carried out', () => {
  raisedEach(duty, flood);

  it('says that it continues, and how to resume it', async () => {
    const { exitCode, stderr } = await interrupted('discard --yes', { call: 2 });
    expect(exitCode).toBe(130);
    expect(stderr).toContain('3 events held');
    expect(stderr).not.toContain('Nothing was discarded');
    expect(stderr).toContain(`${goesOn} holds shows the events that are left.`);
    expect(stderr).toContain('discard --stack');
    expect(await duty.json('holds')).toMatchObject({ result: { events: 0 } });
  });
});

describe('Ctrl-C during a proof', () => {
  raisedOnce(duty, () => duty.stage.completedTick());

  it('that reads again says that it continues, and how to resume it', async () => {
    const { exitCode, stderr } = await interrupted('prove --from 2019-01-01 --to 2019-12-31 --now');
    expect(exitCode).toBe(130);
    expect(stderr).not.toContain('Nothing');
    expect(stderr).toContain(`${goesOn} status --history shows`);
    expect(stderr).toContain('prove --stack');
  });

  it('that only shows recorded proofs says that nothing was changed', async () => {
    const { stderr } = await interrupted('prove --from 2019-01-01 --to 2019-12-31');
    expect(stderr).toContain('Nothing was changed.');
  });
});

describe('Ctrl-C during credentials set', () => {
  raisedOnce(duty, () => duty.stage.completedTick());

  const right = () => {
    const { clientId: client_id, clientSecret: client_secret } = duty.stage.sandbox.credentials;
    return JSON.stringify({ client_id, client_secret });
  };

  it('before they are stored says that nothing was changed', async () => {
    const program = duty.start('credentials set');
    // This is more than the buffer holds: once all of it is written, the program reads. Its input
    // stays open.
    program.input.write(' '.repeat(1_000_000), () => program.interrupt());
    const { exitCode, stderr } = await program.ended;
    expect(exitCode).toBe(130);
    expect(stderr).toContain('Nothing was changed.');
  });

  it('while the partner is asked says that nothing was changed', async () => {
    const program = duty.start('credentials set');
    program.input.end(right());
    duty.stage.partner.always(async () => {
      program.interrupt();
      await program.ended;
      return undefined;
    });
    const { exitCode, stderr } = await program.ended;
    expect(stderr).toContain('Nothing was changed.');
    expect(exitCode).toBe(130);
  });

  it.each([
    ['while their caller is noted says that they are not stored', 2, 'Nothing was stored.'],
    ['after they are stored says so', 3, 'The credentials are stored'],
  ])('%s', async (_, call, said) => {
    const { exitCode, stderr } = await interrupted('credentials set', { call, input: right() });
    expect(exitCode).toBe(130);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('Nothing was changed');
  });
});
