import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allowedAt,
  answered,
  knownPace,
  type Pace,
  paceAt,
  paceSeen,
  refused,
  remembered,
  unhurried,
} from '../../../lambda/decisions/pace.ts';
import { forAll } from '../../support/for-all.ts';

const minute = 60_000;
const hour = 60 * minute;
const t0 = 1_795_248_000_000;

const opensAt = (...known: Parameters<typeof paceAt>) => paceAt(...known).opensAt;

/** Counts a sent request, as the client does. */
function spent(...known: Parameters<typeof paceAt>): Pace {
  const { pace } = paceAt(...known);
  return { ...pace, sent: pace.sent + 1 };
}

/** Counts so many requests at once. */
function many(pace: Pace, set: number, now: number, count: number): Pace {
  let after = pace;
  for (let sent = 0; sent < count; sent++) after = spent(after, set, now);
  return after;
}

/** The host has refused a request after so many, so many minutes later, without a time to wait. */
function refusedAfter(count: number, minutes = 0, before = unhurried, set = 600): Pace {
  const now = t0 + minutes * minute;
  const pace = spent(many(before, set, now, count), set, now);
  return refused(answered(pace, 429, now), set, now);
}
const learnedTwelve = refusedAfter(12, 1, refusedAfter(12));

describe('the next request', () => {
  const two = many(unhurried, 3, t0 + 5, 2);
  const full = spent(two, 3, t0 + 9);
  const learned = many(learnedTwelve, 600, t0 + 2 * minute, 12);
  const waits = { ...unhurried, refusal: { at: t0, until: t0 + hour + 1, answered: 0 } };

  it.each([
    ['has room up to the set number', two, 9, 9],
    ['waits for the end of a minute from its first one', full, 9, 5 + minute],
    ['has room in the next minute', full, 5 + minute, 5 + minute],
    ['has room when the clock is set back', full, 4, 4],
    ['waits for the end of a refusal', waits, 1, hour + 1],
    ["does not wait longer than an hour, which is another clock's", waits, 0, 0],
    ['has no room in the rest of a refused minute', refusedAfter(1), 1, minute],
    ['has the set room after one', many(refusedAfter(1), 3, t0 + minute, 2), minute, minute],
    ['has the learned room', learned, 2 * minute, 3 * minute],
  ])('%s', (_, pace, nowMs, expected) => {
    expect(opensAt(pace, pace === learned ? 600 : 3, t0 + nowMs)).toBe(t0 + expected);
  });
});

describe('a refusal', () => {
  const slowed = refusedAfter(100, 1, refusedAfter(100));
  const none = { learned: undefined };

  it.each([
    ['alone lowers no pace', refusedAfter(12), { ...none, until: t0 + minute }],
    ['in the next minute lowers it to what was answered', learnedTwelve, { learned: 12 }],
    ['two minutes later, too', refusedAfter(12, 2, refusedAfter(12)), { learned: 12 }],
    ['three minutes later is one alone', refusedAfter(12, 3, refusedAfter(12)), none],
    ['from before the last one teaches nothing', refusedAfter(12, 0, refusedAfter(12)), none],
    ['counts the whole minute', refusedAfter(0, 1, refusedAfter(18)), { learned: 18 }],
    ['leaves four requests', refusedAfter(1, 1, refusedAfter(1)), { learned: 4 }],
    [
      'leaves the set pace',
      refusedAfter(1, 1, refusedAfter(1, 0, unhurried, 3), 3),
      { learned: 3 },
    ],
    [
      'lowers it at once where a limit is known',
      refusedAfter(9, 60, learnedTwelve),
      { learned: 12 },
    ],
    ['halves a learned pace at most', refusedAfter(1, 2, slowed), { learned: 50 }],
    ['waits as the host asks', refused(unhurried, 600, t0, 9), { until: t0 + 9 }],
    [
      'waits as the last one asks',
      refused(refused(unhurried, 9, t0, 9), 9, t0, 20),
      { until: t0 + 20 },
    ],
    ['waits an hour at most', refused(unhurried, 600, t0, 9e9), { until: t0 + hour }],
  ])('%s', (_, { refusal }, expected) => {
    expect({ learned: undefined, ...refusal }).toMatchObject(expected);
  });
});

it.each([
  ['stays for two minutes after that of the refusal', 4 * minute - 1, 12],
  ['rises by half in the third', 4 * minute, 18],
  ['rises in each one, used up or not', 6 * minute, 41],
  ['ends when it reaches the set pace', 13 * minute, 600],
  ['is forgotten when the clock goes back', -hour, 600],
])('a learned pace %s', (_, laterMs, allowed) => {
  const { pace } = paceAt(learnedTwelve, 600, t0 + laterMs);
  expect(allowedAt(pace, 600, t0 + laterMs)).toBe(allowed);
});

it.each([
  ['the set one', unhurried, 600],
  ['the learned one, also once it has risen', paceAt(learnedTwelve, 600, t0 + hour).pace, 12],
  ['the set one after a burst', refusedAfter(12), 600],
])('the pace that audits count on is %s', (_, value, known) => {
  expect(knownPace({ value, perMinute: 600 })).toBe(known);
});

describe('the pace that the next tick has to know', () => {
  const none = { since: 0, sent: 0 };
  const closed = refused(unhurried, 2, t0, 90_000);
  const forgiven = answered(refusedAfter(12), 200, t0);

  it.each([
    ['is nothing while half of the minute is left', many(unhurried, 4, t0, 2), 4, 0, undefined],
    ['is that of the minute', many(unhurried, 4, t0, 3), 4, 0, { ...none, since: t0, sent: 3 }],
    ['is nothing after the minute', many(unhurried, 4, t0, 3), 4, minute, undefined],
    ['has the refusal, without requests', closed, 2, 0, { ...closed, ...none }],
    ['has the learned pace', learnedTwelve, 600, minute, learnedTwelve],
    ['has a learned pace that has risen', learnedTwelve, 600, hour, { ...learnedTwelve, ...none }],
    ['is nothing a day after the refusal', forgiven, 600, 25 * hour, undefined],
  ] as const)('%s', (_, pace, set, laterMs, expected) => {
    const known = remembered(pace, set, t0 + laterMs);
    expect(known).toEqual(expected);
  });
});

describe('ops are told', () => {
  const answeredOnce = answered(learnedTwelve, 200, t0);
  const used = (requests: number) => many(answeredOnce, 600, t0 + 2 * minute, requests);
  const onlyRefused = answered(answered(unhurried, 429, t0), 429, t0 + minute);
  const quarter = 15 * minute;

  it.each([
    ['not by the refusal itself', answeredOnce, 600, minute, undefined],
    ['nor by a burst, which ends it', answered(refusedAfter(12), 200, t0), 600, minute, false],
    ['not before the learned pace is used up', used(11), 600, 2 * minute, undefined],
    ['once the learned pace is used up', used(12), 600, 2 * minute, true],
    ['not that it is over while a refusal is remembered', answeredOnce, 600, hour, undefined],
    ['that it is over an hour after the last one', answeredOnce, 600, hour + 3 * minute, false],
    ['not before fifteen minutes of refusals', onlyRefused, 600, quarter - 1, undefined],
    ['after fifteen minutes of them', onlyRefused, 600, quarter, true],
    ['that it is over after an answer', answered(onlyRefused, 200, t0), 600, quarter, false],
    [
      'nothing of a learned pace that has risen',
      many(answeredOnce, 600, t0 + 20 * minute, 12),
      600,
      20 * minute,
      undefined,
    ],
    ['nothing of a set pace that is used up', many(unhurried, 4, t0, 4), 4, 0, false],
  ])('%s', (_, value, perMinute, laterMs, expected) => {
    const seen = paceSeen({ value, perMinute }, t0 + laterMs)['rate-limited'];
    expect(seen && seen.number > 0).toBe(expected);
  });
});

/** Requests of a minute that begins with its first request. */
const counted = (begun: number, count: number, now: number): [begun: number, count: number] =>
  now - begun >= minute ? [now, 1] : [begun, count + 1];

describe('at any pace of the host', () => {
  it('the client sends no more than the set number of requests, and sends again within an hour', () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 90_000 }),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 2 * hour }), { nil: undefined }),
      isRefused: fc.boolean(),
    });
    forAll(fc.integer({ min: 2, max: 20 }), fc.array(step), (set, steps) => {
      let [pace, now, begun, count] = [unhurried, t0, t0 - minute, 0];
      for (const { waitMs, retryAfterMs, isRefused } of steps) {
        now += waitMs;
        const at = opensAt(pace, set, now);
        expect(at - now).toBeLessThanOrEqual(hour);
        now = at;
        pace = spent(pace, set, now);
        [begun, count] = counted(begun, count, now);
        expect(count).toBeLessThanOrEqual(set);
        count -= Number(isRefused);
        const known = answered(pace, isRefused ? 429 : 200, now);
        const learned = isRefused ? refused(known, set, now, retryAfterMs) : known;
        pace = {
          ...learned,
          ...remembered(learned, set, now),
          sent: learned.sent,
          since: learned.since,
        };
      }
    });
  });
});
