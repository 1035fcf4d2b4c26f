import { describe, expect, it } from 'vitest';
import { announced, desk, flooded, json, me, notStarted } from './desk.ts';

// Commands of several calls: each goes on where the last one stopped.
const duty = desk(announced);

const goesOn = 'The call in progress goes on in AWS to its end, within a minute;';
const mayGoOn = 'It may go on in AWS to its end, within a minute;';
const nothing = { created: 0, updated: 0, withdrawn: 0, restored: 0 };
const sent = (events: number, after?: string) => ({
  dryRun: false,
  events,
  byType: { ...nothing, created: events },
  skipped: {},
  ...(after !== undefined && { next: { command: 'replay', days: {}, after } }),
});
const firstPart = json(200, { ok: true, result: sent(2, '2026-11-18/2') });

/** The command line that continues, as a shell passes it on. The JSON has no blanks. */
function continued(stderr: string): string {
  const [, line = ''] = /certification-notifier (\w+ .*--next .*)$/m.exec(stderr) ?? [];
  return line.replaceAll("'", '');
}

describe('a command of several calls', () => {
  it('continues until everything is done, and sums up', async () => {
    const calls = duty.answers(sent(2, '2026-11-18/2'), sent(2, '2026-11-19/4'), sent(1));
    expect(await duty.json('replay --from 2020-01-01')).toEqual({
      ...{ exitCode: 0, ok: true },
      result: { ...sent(5), byType: { ...nothing, created: 5 } },
    });
    const after = [undefined, '2026-11-18/2', '2026-11-19/4'];
    expect(calls.map(({ body }) => JSON.parse(body).after)).toEqual(after);
  });

  it('that fails half-way reports its work and prints the line that resumes it', async () => {
    const problem = { code: 'events-refused', fault: 'aws', message: 'No.', retryHelps: true };
    const failed = { ok: false, problem: { ...problem, whatToDo: '' } };
    duty.nextCall(async () => json(200, { ...failed, result: sent(2, '2026-11-19/12') }));
    const { next, ...ended } = await duty.json('replay --all');
    expect(ended).toMatchObject({ exitCode: 5, ...failed, result: { events: 2 } });
    const { stdout } = await duty.run(`replay --next ${JSON.stringify(next)}`);
    expect(stdout).toContain('1 event sent: 1 created');
  });

  it("records the caller who continues another's command", async () => {
    const begun = { from: '2026-11-18', to: '2026-11-20', now: true, by: 'somebody-else' };
    expect(await duty.run(`prove --next ${JSON.stringify(begun)}`)).toMatchObject({ exitCode: 0 });
    expect(await duty.history()).toMatchObject([{ command: 'prove', by: me }]);
  });

  it('lists the requested number of events, in pages of the function, and requests no more', async () => {
    const listed = (id: number) => ({
      ...{ id, revision: 1, event: `district-a/${id}/1`, type: 'created', changed: [] },
      ...{ at: '2026-11-21T08:00:00Z', delivery: 'announced', late: false, day: '2026-11-20' },
      ...{ presence: 'present', organization_id: 7, assessment_name: 'Rope Bridge Safety' },
    });
    const page = (...ids: number[]) => ({
      ...{ events: ids.map(listed), unreadable: 1 },
      next: { command: 'events', limit: 9, after: `2026-11-21T08:00:00Z/${ids.at(-1)}/1` },
    });
    const calls = duty.answers(page(1, 2, 3), page(4, 5));
    expect(await duty.json('events --limit 5')).toMatchObject({
      result: { ...page(5), events: [1, 2, 3, 4, 5].map(listed), unreadable: 2 },
    });
    expect(calls.map(({ body }) => JSON.parse(body).limit)).toEqual([5, 2]);
    duty.lambda.reset();
    duty.answers(page(1, 2, 3), { events: [listed(4)], unreadable: 0 });
    expect((await duty.run('events --csv')).stdout.trim().split('\n')).toHaveLength(1 + 4);
  });
});

describe('Ctrl-C', () => {
  it('during a replay does not say that nothing was sent, and prints the line that resumes it', async () => {
    const { exitCode, stdout, stderr } = await duty.interrupted('replay --all');
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(stderr).not.toContain('Nothing');
    expect(stderr).toContain(`${goesOn} status --history shows how far it has got.`);
    expect(duty.story.heard).toHaveLength(6);
    expect(await duty.runAnywhere(continued(stderr))).toMatchObject({ exitCode: 0 });
    expect(await duty.history()).toMatchObject([{ command: 'replay', by: me }]);
  });

  it.each([
    ['during a later call', undefined, goesOn],
    ['while AWS does not start one', notStarted, 'Nothing is under way any more: the rest was not'],
  ])('%s reports the events of earlier calls, and resumes behind them', async (_, reply, said) => {
    const program = duty.start('replay --all');
    duty.lambda.always(async () => {
      if (duty.lambda.calls.length === 1) return firstPart;
      if (reply === undefined) program.interrupt();
      else duty.story.clock.after(5_000, () => program.interrupt());
      return reply;
    });
    const { exitCode, stderr } = await program.ended;
    expect(exitCode).toBe(130);
    expect(stderr).toContain('2 events sent: 2 created\n');
    expect(stderr).toContain(said);
    expect(continued(stderr)).toContain('"after":"2026-11-18/2"');
  });

  it('while a decision is carried out says that it continues, and how to resume it', async () => {
    await duty.begin(flooded);
    const { exitCode, stderr } = await duty.interrupted('discard --yes', { call: 2 });
    expect(exitCode).toBe(130);
    expect(stderr).toContain(`${goesOn} holds shows the events that are left.`);
    expect(continued(stderr)).toMatch(/^discard --stack prod --next /);
    expect(await duty.json('holds')).toMatchObject({ result: { events: 0 } });
  });
});

it.each([
  ['pause --reason maintenance', `${mayGoOn} status --history`],
  ['test-event', `${mayGoOn} the test event may be sent.`],
  ['discard --yes', `${mayGoOn} holds shows the events`],
  ['status', '(aws-failed)'],
])('a connection that breaks in a call of %s names the possible work', async (args, said) => {
  await duty.begin(flooded);
  // Calls that only count are answered.
  duty.lambda.always(async ({ body, forward }) =>
    body.includes('"command":"holds"') ? forward() : undefined,
  );
  const { exitCode, stdout, stderr } = await duty.run(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
  expect(stderr).toContain(said);
  expect(stderr.includes('(answer-lost)')).toBe(args !== 'status');
  expect(stderr.includes('--next')).toBe(args.startsWith('discard'));
});
