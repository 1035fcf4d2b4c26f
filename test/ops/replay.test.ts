import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Rule } from '../support/gate.ts';
import { queues } from '../support/stage.ts';
import { Duty, ended } from './duty.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
beforeEach(() => duty.raise());
afterEach(() => duty.strike());

/** Certified, and told of: what a subscriber could have missed. */
async function announce(count: number): Promise<string[]> {
  const { stage } = duty;
  await stage.completedTick();
  for (let index = 0; index < count; index += 1) stage.sandbox.world.add();
  expect(await stage.completedTick()).toMatchObject({ delivered: count });
  return idsOf(await stage.events(queues.everything));
}

const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id).sort();

/** The function answers after two events, as it would after a minute. */
const twoAtATime: Rule = ({ body, forward }) =>
  forward(JSON.stringify({ ...JSON.parse(body), limit: 2 }));

describe('replay', () => {
  it('counts what would be sent, sends that, and says what it has not sent', async () => {
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

  it('goes on until everything is sent, however many calls it takes', async () => {
    const told = await announce(5);
    duty.lambda.once(duty.invocation, twoAtATime);
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

  it('that is interrupted says how to go on, and nothing is lost', async () => {
    const told = await announce(5);
    duty.lambda.once(duty.invocation, twoAtATime);
    const child = duty.start(`replay --all --stack ${duty.stack}`);
    // In the middle of the second call.
    duty.lambda.always(async () => {
      child.kill('SIGINT');
      await once(child, 'exit');
      return undefined;
    });
    const { exitCode, stdout, stderr } = await ended(child);
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(stderr).toContain('2 events sent: 2 created');
    const [, next = ''] = /certification-notifier (replay .*)$/m.exec(stderr) ?? [];
    expect(next).toContain('--next ');

    duty.lambda.reset();
    expect(await duty.runAnywhere(unquoted(next))).toMatchObject({ exitCode: 0 });
    expect(idsOf(await duty.stage.events(queues.everything))).toEqual(told);
  });

  it('that fails half-way says what was done and how to go on', async () => {
    await announce(3);
    duty.lambda.once(duty.invocation, twoAtATime);
    duty.stage.sns.once('PublishBatch', (call) => {
      duty.stage.sns.always(async () => ({ status: 403, type: 'text/xml', body: '<Error/>' }));
      return call.forward();
    });
    const answer = await duty.json('replay --all');
    expect(answer).toMatchObject({
      exitCode: 5,
      ok: false,
      problem: { code: 'replay-refused', retryHelps: true },
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

  it('ends after as many as were wanted, and sends to one queue', async () => {
    await announce(3);
    const answer = await duty.json(`replay --all --limit 1 --queue ${queues.oneOrganization}`);
    expect(answer).toMatchObject({
      exitCode: 0,
      result: { events: 1, next: { command: 'replay' } },
    });
    expect(await duty.stage.events(queues.everything)).toEqual([]);
    expect(await duty.stage.events(queues.oneOrganization)).toHaveLength(1);
  });

  it('has to be told what to send', async () => {
    expect(await duty.run('replay')).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await duty.run('replay --all --id 5')).toMatchObject({ exitCode: 2 });
    const { exitCode, stderr } = await duty.run('replay --all --queue not-an-arn');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('to.queue');
  });
});

/** As a shell would hand it on; the JSON has no blanks. */
function unquoted(line: string): string {
  return line.replaceAll("'", '');
}
