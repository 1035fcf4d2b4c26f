import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { readAnew } from '../../../lambda/commands/restart-baseline.ts';
import { noLease, type StateChanges } from '../../../lambda/decisions/state.ts';
import { type DynamoDbLedgers, ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { on, resultOf, resultsOf } from './answers.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

const range = { from: '2026-11-01', to: '2026-11-21' };

async function begin(ledgers?: DynamoDbLedgers) {
  story = new IntegrationWithPast(ledgers);
  story.world = [on('2026-11-05', 1), on('2026-11-05', 2), on('2026-11-12', 3)];
  await story.settle();
}
beforeEach(() => begin());

const proven = (command: object = {}) => resultOf(story, 'prove', { ...range, ...command });

describe('the certificate', () => {
  it('has each day with its proof, time, count and digest, sends no request and changes nothing', async () => {
    await begin(database);
    const before = await story.items();
    const { days, toRead, next } = await proven();
    const count = (day: string) => ({ '2026-11-05': 2, '2026-11-12': 1 })[day] ?? 0;
    expect(days.map(({ day, count, state }) => [day, count, state])).toEqual(
      Array.from({ length: 21 }, (_, index) => {
        const day = `2026-11-${String(index + 1).padStart(2, '0')}`;
        return [day, count(day), index < 20 ? 'proven' : 'open'];
      }),
    );
    const proof = { kind: 'single-page', at: '2026-11-21T08:00:00Z' };
    expect(days[4]).toMatchObject({ proof, digest: expect.any(String) });
    expect(days[6]).toMatchObject({ proof, readWith: '2026-11-12' });
    expect([toRead, next, story.requests]).toEqual([0, undefined, []]);
    expect(await story.items()).toEqual(before);
  });

  it.each([
    ['2026-11-02', '2026-11-01', '`from` must not be after `to`'],
    ['1999-12-31', '2029-01-01', '`from` and `to` must be within 30 calendar years'],
  ])('is refused for the days %s to %s', async (from, to, why) => {
    const problem = { code: 'command-invalid', message: `This is not a command: ${why}.` };
    expect(await story.operate({ command: 'prove', from, to })).toMatchObject({ problem });
  });

  it('has thirty years in one answer', async () => {
    const { days } = await proven({ from: '2000-01-01', to: '2029-12-31' });
    expect(days).toHaveLength(30 * 365 + 8);
  });
});

describe('proving now', () => {
  beforeEach(async () => {
    story.clock.advance({ minutes: 30 });
    await story.tick();
    story.clock.advance({ minutes: 1 });
    story.requests.length = 0;
  });
  it('reads all days of the range again, announces the differences, and leaves other days', async () => {
    story.host.edit(1, { email: 'b@example.org' });
    const some = { now: true, from: '2026-11-01', to: '2026-11-05' };
    const { days, found, toRead } = await proven(some);
    expect([toRead, found]).toEqual([0, { created: 0, updated: 1, withdrawn: 0, restored: 0 }]);
    for (const { proof } of days) expect(proof?.at).toBe('2026-11-21T08:31:00Z');
    expect(story.ids()).toEqual([`${story.name}/1/2`]);
    const after = (await proven()).days.find(({ day }) => day === '2026-11-12');
    expect(after?.proof?.at).toBe('2026-11-21T08:30:00Z');
  });

  it('continues over several calls if one does not suffice', async () => {
    story.world = Array.from({ length: 300 }, (_, n) =>
      on(`2026-11-${n < 150 ? '05' : '12'}`, n + 1),
    );
    story.clock.advance({ minutes: 30 });
    await story.settle();
    story.requestSeconds = 20;
    const calls = await resultsOf(story, 'prove', { ...range, now: true });
    const last = calls.pop();
    expect(calls.length).toBeGreaterThan(0);
    for (const { days, toRead } of calls) expect([days, toRead > 0]).toEqual([[], true]);
    expect(last?.toRead).toBe(0);
    expect(last?.days.map(({ state }) => state)).toEqual([...Array(20).fill('proven'), 'open']);
  });

  it('is done by scheduled ticks if nobody sends the next call, which then has found nothing', async () => {
    story.requestSeconds = 20;
    const askedAt = story.clock.now().toString();
    const { next, days, toRead } = await proven({ now: true });
    expect(days).toEqual([]);
    expect(toRead).toBeGreaterThan(0);
    const asked = async () => (await proven()).days.filter(({ askedAt }) => askedAt !== undefined);
    expect((await asked()).at(0)).toMatchObject({ askedAt });
    story.requestSeconds = 0;
    await story.minutes(4);
    const last = await proven(next);
    expect(last).toMatchObject({ toRead: 0 });
    expect(last).not.toHaveProperty('found');
    expect(await asked()).toEqual([]);
  });

  it('reads again also if no tick has come since midnight', async () => {
    story.clock.advance({ hours: 24 });
    story.add(on('2026-11-22', 4));
    const { days, found } = await proven({ from: '2026-11-22', to: '2026-11-22', now: true });
    expect(found).toMatchObject({ created: 1 });
    expect(days).toMatchObject([{ state: 'open', proof: { at: '2026-11-22T08:31:00Z' } }]);
  });

  it.each([
    ['a day in the future', '2027-01-01', '2026-11-21..undefined', 'not-yet'],
    ['a day without an entry', '2026-11-07', '2026-11-06..2026-11-12', 'proven'],
  ])('reads %s together with the nearest entry', async (_, day, read, state) => {
    const { days, found } = await proven({ from: day, to: day, now: true });
    expect(story.requests).toEqual(['pulse', `prove ${read}`]);
    expect(found).toMatchObject({ created: 0 });
    expect(days).toMatchObject([{ state }]);
  });

  it('does not wait until audits have made up for a long read', async () => {
    const now = story.clock.now();
    const lease = { owner: 'a tick', until: now.add({ minutes: 1 }) };
    await story.ledger.takeLease(lease, now);
    const auditsFrom = now.add({ minutes: 30 }).epochMilliseconds;
    await story.ledger.saveState({ dirtySince: undefined, auditsFrom, ...noLease }, lease);
    expect(await proven({ now: true })).toMatchObject({ toRead: 0 });
  });

  const until = Temporal.Instant.from('2026-11-21T08:40:00Z');
  const hindrances: [string, StateChanges][] = [
    ['paused', { paused: true }],
    ['backing-off', { backOff: { until, failures: 2 } }],
    ['baseline-running', readAnew(Temporal.PlainDate.from('2026-11-21'))],
  ];

  it.each(hindrances)('says that it is %s if that has begun in between', async (code, changes) => {
    story.beforeTick = async () => {
      await story.ledger.saveState(changes);
      if (code === 'baseline-running') story.requestSeconds = 20;
    };
    const answer = await story.operate({ command: 'prove', ...range, now: true });
    expect(answer).toMatchObject({ ok: false, problem: { code }, result: { days: [] } });
    expect(answer.result).not.toHaveProperty('found');
  });

  it.each(hindrances)('is refused while it is %s, and makes no day due', async (code, changes) => {
    await story.ledger.saveState(changes);
    const answer = await story.operate({ command: 'prove', ...range, now: true });
    expect(answer).toMatchObject({ ok: false, problem: { code } });
    for (const { askedAt } of (await story.ledger.calendar([2026])).values())
      expect(askedAt).toBeUndefined();
  });
});
