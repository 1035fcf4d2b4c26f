import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import type { StateChanges } from '../../../lambda/decisions/state.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { on, resultOf } from './answers.ts';

let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const now = Temporal.Instant.from('2026-11-21T08:00:00Z');
const backOff = { until: now.add({ minutes: 50 }), failures: 6 };
const nobody = { paused: false, pause: undefined };
const first = { since: now, by: 'odile', reason: 'a migration' };
const paused = { ...first, since: '2026-11-21T08:00:00Z' };
const isPaused = { paused: true, pause: first };
const toPause = { command: 'pause', by: 'odile', reason: 'a migration' };
const toRestart = { command: 'restart-baseline' };
const startDay = Temporal.PlainDate.from('2026-11-21');
const running = { baseline: { status: 'running', startDay } } as const;
const anew = { ...running.baseline, isAnew: true };
const gone = { total: 35, notes: [], withdrawn: [], accepted: 0, tooManySince: 0 };
const few = { ...gone, total: 2 };
const known = { expected: 6, missing: gone };
const accepting = (total: number) => ({ command: 'accept-total', total });

const isAnew = { baseline: anew, pulseDigest: undefined, missing: undefined, cursor: undefined };
const sums = { changed: true, total: 6, before: 41 };
const accepted = { ...gone, accepted: 35, lookAt: now.epochMilliseconds };
const credentials = { command: 'credentials-stored' };
const resume = { command: 'resume' };

describe('a command about the whole integration', () => {
  it.each<[object, StateChanges, object, object]>([
    [toPause, {}, { changed: true, paused }, isPaused],
    [{ ...toPause, reason: 'another' }, isPaused, { changed: false, paused }, isPaused],
    [resume, isPaused, { changed: true }, nobody],
    [resume, {}, { changed: false }, nobody],
    [credentials, { backOff }, { changed: true }, { backOff: undefined }],
    [credentials, {}, { changed: false }, {}],
    [toRestart, { missing: few, pulseDigest: 'seen' }, { changed: true }, isAnew],
    [toRestart, running, { changed: false }, running],
    [toRestart, isPaused, { changed: true, paused }, isPaused],
    [accepting(6), known, sums, { missing: accepted }],
    [accepting(6), { expected: 38, unexplained: 3 }, sums, { missing: { accepted: 35 } }],
    [accepting(6), { ...known, ...isPaused }, { ...sums, paused }, { missing: accepted }],
    [accepting(6), { missing: few }, { ...sums, changed: false, before: 8 }, { missing: few }],
  ])('changes the state, and says so: %j after %j', async (command, before, result, after) => {
    for (let id = 1; id <= 6; id += 1) story.add(on('2026-11-20', id));
    await story.settle();
    await story.ledger.saveState(before);
    expect(await story.operate(command)).toEqual({ ok: true, result });
    const absent = { backOff: undefined, pause: undefined, pulseDigest: undefined };
    const none = { ...absent, missing: undefined, cursor: undefined };
    expect({ ...none, ...(await story.ledger.state()) }).toMatchObject(after);
  });

  it.each([
    [8, false],
    [9, true],
    [11, true],
    [12, false],
  ])('accepts the total of ten within a tenth: the partner shows %i', async (shown, isTaken) => {
    await story.settle();
    await story.ledger.saveState(known);
    story.host.count = () => shown;
    const taken = { ok: true, result: { changed: true, total: shown } };
    const refused = { ok: false, problem: { code: 'total-changed' } };
    expect(await story.operate(accepting(10))).toMatchObject(isTaken ? taken : refused);
  });
});

it.each([{ command: 'release', forHours: 1 }, toRestart, accepting(6)])(
  'nothing is done if another one has taken the lease since: %j',
  async (command) => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)], 'held');
    await story.ledger.saveState(known);
    story.host.count = () => 6;
    const before = { ...(await story.ledger.state()), dirtySince: expect.anything() };
    const ledger = story.ledgerWith({
      saveState: async (changes, lease) => lease === undefined && story.ledger.saveState(changes),
    });
    const answer = await story.operate(command, 55, { ledger });
    expect(answer).toMatchObject({ ok: false, problem: { code: 'busy' } });
    expect(await story.ledger.state()).toMatchObject(before);
    expect(await story.ledger.countWaitingForOps('held')).toBe(1);
  },
);

describe('a pause', () => {
  it('may begin before the very first tick', async () => {
    await story.operate({ command: 'pause', reason: 'not yet' });
    expect(await story.tick()).toMatchObject({ outcome: 'paused' });
    await story.operate({ command: 'resume' });
    expect(await story.tick()).toMatchObject({ outcome: 'baseline' });
  });

  it('is in the answers of commands whose effect waits for its end', async () => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)], 'held');
    await story.operate(toPause);
    for (const as of ['digest', 'events'])
      expect(await story.operate({ command: 'release', as })).toMatchObject({ result: { paused } });
    await story.tick();
    await story.operate({ command: 'resume' });
    expect((await story.operate({ command: 'release' })).result).not.toHaveProperty('paused');
  });

  it.each([
    ['a path of many signs', 'arn:aws:iam::111122223333:user/!dept/#1;(x)/odile', true],
    ['a long path', `arn:aws:iam::111122223333:user/${'d'.repeat(510)}/odile`, true],
    ['an invalid ARN', 'odile\u0007', false],
    ['a text that is too long', 'd'.repeat(2_049), false],
  ])('has the caller that AWS names: %s', async (_, by, ok) => {
    expect(await story.operate({ ...toPause, by })).toMatchObject({ ok });
    expect((await story.ledger.state()).pause?.by).toBe(ok ? by : undefined);
  });
});

it('credentials that are being stored are recorded once: as under way, and then as done', async () => {
  await story.settle();
  const named = { by: 'odile', operation: 'mine' };
  const store = (settings: object) => resultOf(story, 'credentials-stored', settings);
  const history = async () => (await resultOf(story, 'status', { history: true })).history;
  const { changed, next } = await store({ ...named, stored: false });
  expect(changed).toBe(false);
  const [underWay] = (await history()) ?? [];
  expect(underWay).toMatchObject({ by: 'odile', outcome: { ok: true, rest: {}, changed: false } });
  // A caller who has lost the answer knows only the name that he gave the call.
  for (const rest of [named, { ...next }]) {
    await store(rest);
    const [done, ...others] = (await history()) ?? [];
    expect([done, others]).toEqual([{ ...underWay, outcome: expect.any(Object) }, []]);
    expect(done?.outcome).toMatchObject({ ok: true, changed: true });
    expect(done?.outcome).not.toHaveProperty('rest');
  }
});
