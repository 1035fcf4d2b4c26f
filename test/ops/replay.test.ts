import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { queues } from '../scaffold/deployment.ts';
import { Duty } from './duty.ts';
import { twoAtATime } from './two-at-a-time.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
beforeEach(() => duty.raise());
afterEach(() => duty.strike());

/** Announced certifications, which a subscriber could have missed. */
async function announce(count: number): Promise<string[]> {
  const { stage } = duty;
  await stage.completedTick();
  for (let index = 0; index < count; index += 1) stage.sandbox.world.add();
  expect(await stage.completedTick()).toMatchObject({ delivered: count });
  return idsOf(await stage.events(queues.everything));
}

const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id).sort();

describe('replay', () => {
  it('counts the events, sends them, and counts those that it has not sent', async () => {
    const told = await announce(3);
    const dryRun = await duty.run('replay --all --dry-run');
    expect(dryRun).toMatchObject({ exitCode: 0, stderr: '' });
    expect(dryRun.stdout).toMatch(
      /^3 events would be sent: 3 created\nnot sent:\n {2}30 {2}never announced/,
    );
    expect(await duty.stage.events(queues.everything)).toEqual([]);

    const { stdout } = await duty.run('replay --all');
    expect(stdout).toContain('3 events sent: 3 created');
    expect(idsOf(await duty.stage.events(queues.everything))).toEqual(told);
  });

  it('of an unknown assessment says so, and ends with 3; the others are sent', async () => {
    const [told = ''] = await announce(1);
    const id = told.split('/')[1];
    const unknown = await duty.run('replay --id 999999');
    expect(unknown).toMatchObject({ exitCode: 3, stderr: '' });
    expect(unknown.stdout).toMatch(/^0 events sent\nnot sent:\n {2}1 {2}not known here/);
    expect(await duty.run(`replay --id ${id},999999 --dry-run`)).toMatchObject({ exitCode: 3 });
    const both = await duty.run(`replay --id ${id},999999`);
    expect(both).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('1 event sent') });
    expect(idsOf(await duty.stage.events(queues.everything))).toEqual([told]);
    expect(await duty.run(`replay --id ${id}`)).toMatchObject({ exitCode: 0 });
  });

  it('continues until everything is sent, over any number of calls', async () => {
    const told = await announce(5);
    for (let time = 0; time < 2; time += 1) duty.lambda.once(duty.invocation, twoAtATime(duty));
    const answer = await duty.json('replay --from 2020-01-01');
    expect(answer).toMatchObject({
      exitCode: 0,
      ok: true,
      result: { events: 5, byType: { created: 5 } },
    });
    expect(answer.result).not.toHaveProperty('next');
    expect(duty.lambda.calls).toHaveLength(3);
    expect(idsOf(await duty.stage.events(queues.everything))).toEqual(told);
  });

  it('that is interrupted prints the line that resumes it, and loses nothing', async () => {
    const told = await announce(5);
    duty.lambda.once(duty.invocation, twoAtATime(duty));
    const program = duty.start('replay --all');
    // This is within the second call.
    duty.lambda.always(async () => {
      program.interrupt();
      await program.ended;
      return undefined;
    });
    const { exitCode, stdout, stderr } = await program.ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(stderr).toContain('2 events sent: 2 created');
    const [, next = ''] = /certification-notifier (replay .*)$/m.exec(stderr) ?? [];
    expect(next).toContain('--next ');

    duty.lambda.reset();
    expect(await duty.runAnywhere(unquoted(next))).toMatchObject({ exitCode: 0 });
    expect(idsOf(await duty.stage.events(queues.everything))).toEqual(told);
  });

  it('that fails half-way reports its work and prints the line that resumes it', async () => {
    await announce(3);
    duty.stage.sns.once('PublishBatch', (call) => {
      duty.stage.sns.always(async () => ({ status: 403, type: 'text/xml', body: '<Error/>' }));
      return call.forward();
    });
    const answer = await duty.json('replay --all --events-per-second 2');
    expect(answer).toMatchObject({
      exitCode: 5,
      ok: false,
      problem: { code: 'events-refused', retryHelps: true },
      result: { events: 2, next: { command: 'replay' } },
    });
  });

  it('says so when the partner is down', async () => {
    await announce(1);
    duty.stage.partner.always(async () => ({ status: 503, type: 'text/plain', body: '' }));
    const { exitCode, stderr } = await duty.run('replay --all');
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/error: No usable answer from .*: status 503\./);
  });

  it('sends to one queue, and to no subscriber beside it', async () => {
    await announce(3);
    const answer = await duty.json(`replay --all --queue ${queues.oneOrganization}`);
    expect(answer).toMatchObject({ exitCode: 0, result: { events: 3 } });
    expect(answer.result).not.toHaveProperty('next');
    expect(await duty.stage.events(queues.everything)).toEqual([]);
    expect(await duty.stage.events(queues.oneOrganization)).toHaveLength(3);
  });

  it('to a missing queue has not begun, so no line that resumes it is printed', async () => {
    await announce(1);
    const to = 'replay --all --queue arn:aws:sqs:us-east-1:000000000000:nowhere';
    const { exitCode, stdout, stderr } = await duty.run(to);
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
    expect(stderr).toMatch(/^error: The queue .*:nowhere cannot be reached /);
    expect(stderr).not.toContain('--next');
    const failed = JSON.parse((await duty.run(`${to} --json`)).stdout);
    expect(failed).toMatchObject({ ok: false, problem: { code: 'queue-unreachable' } });
    expect(failed).not.toHaveProperty('next');
  });

  it('needs a selection', async () => {
    expect(await duty.run('replay')).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await duty.run('replay --all --id 5')).toMatchObject({ exitCode: 2 });
    const { exitCode, stderr } = await duty.run('replay --all --queue not-an-arn');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Allowed: the ARN of an SQS queue, such as arn:aws:sqs:');
  });
});

/** Removes quotes as a shell does. The JSON has no blanks. */
function unquoted(line: string): string {
  return line.replaceAll("'", '');
}
