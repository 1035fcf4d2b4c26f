import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answered,
  type Pace,
  paceAt,
  paceSeen,
  refused,
  remembered,
  unhurried,
} from '../../../lambda/detection/pace.ts';
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

/** The host has refused a request after so many, without a time to wait. */
function refusedAfter(count: number, now = t0, set = 600): Pace {
  const pace = spent(many(unhurried, set, now, count), set, now);
  return refused(answered(pace, 429, now), set, now);
}

describe('the next request', () => {
  const two = many(unhurried, 3, t0 + 5, 2);
  const full = spent(two, 3, t0 + 9);
  const waits = { ...unhurried, closedUntil: t0 + hour + 1 };

  it.each([
    ['has room up to the set number', two, 9, 9],
    ['waits for the end of a minute from its first one', full, 9, 5 + minute],
    ['has room in the next minute', full, 5 + minute, 5 + minute],
    ['has room when the clock is set back', full, 4, 4],
    ['waits for the end of a refusal', waits, 1, hour + 1],
    ["does not wait longer than an hour, which is another clock's", waits, 0, 0],
  ])('%s', (_, pace, nowMs, expected) => {
    expect(opensAt(pace, 3, t0 + nowMs)).toBe(t0 + expected);
  });
});

describe('a refusal', () => {
  it('lowers the pace to the number that the host allowed, and closes the rest of the minute', () => {
    const pace = refusedAfter(12);
    expect(pace).toMatchObject({ learned: 12, refusedAt: t0, closedUntil: t0 + minute });
    expect(opensAt(pace, 600, t0 + 1)).toBe(t0 + minute);
    const next = many(pace, 600, t0 + minute, 12);
    expect(opensAt(next, 600, t0 + minute)).toBe(t0 + 2 * minute);
  });

  it.each([
    ['to four requests in a quiet minute', refusedAfter(1), { learned: 4 }],
    ['to the set pace in a quiet minute', refusedAfter(1, t0, 3), { learned: 3 }],
    ['for the time that the host asks', refused(unhurried, 600, t0, 9), { closedUntil: t0 + 9 }],
    ['for an hour at most', refused(unhurried, 600, t0, 24 * hour), { closedUntil: t0 + hour }],
  ])('lowers the pace %s', (_, pace, expected) => {
    expect(pace).toMatchObject(expected);
  });
});

describe('a learned pace', () => {
  /** The minute after the refusal in which 12 requests were made, or so many. */
  const used = (minutes: number, requests = 12) =>
    many(refusedAfter(12), 600, t0 + minutes * minute, requests);
  const refusedAgain = { ...used(12), refusedAt: t0 + 12 * minute + 1 };
  const raised = paceAt(used(9), 600, t0 + 10 * minute).pace;

  it.each([
    ['lasts for a day', refusedAfter(12), 600, 24 * hour - 1, 12],
    ['is forgotten after a day', refusedAfter(12), 600, 24 * hour, undefined],
    ['is forgotten when the clock goes back', refusedAfter(12), 600, -1, undefined],
    ['has no effect at the set pace', refusedAfter(12), 12, 0, undefined],
    ['is not raised sooner than ten minutes after', used(9), 600, 10 * minute - 1, 12],
    ['is raised by half after a minute that used it up', used(9), 600, 10 * minute, 18],
    ['is raised again', many(raised, 600, t0 + 10 * minute, 18), 600, 11 * minute, 27],
    ['is not raised after a minute that did not', used(12, 11), 600, 13 * minute, 12],
    ['is not raised after the minute of a refusal', refusedAgain, 600, 40 * minute, 12],
    ['ends when it reaches the set pace', used(12), 15, 13 * minute, undefined],
  ])('%s', (_, pace, set, laterMs, learned) => {
    expect(paceAt(pace, set, t0 + laterMs).pace.learned).toBe(learned);
  });

  it('begins a new minute when it is raised', () => {
    expect(raised).toMatchObject({ refusedAt: t0, sent: 0 });
  });
});

describe('the pace that the next tick has to know', () => {
  const none = { since: 0, sent: 0 };
  const learned = { learned: 12, refusedAt: t0, refusedSince: t0 };

  it.each([
    ['is nothing while half of the minute is left', many(unhurried, 4, t0, 2), 4, 0, undefined],
    ['is that of the minute', many(unhurried, 4, t0, 3), 4, 0, { ...none, since: t0, sent: 3 }],
    ['is nothing after the minute', many(unhurried, 4, t0, 3), 4, minute, undefined],
    ['has the refusal', refusedAfter(12), 600, minute, { ...none, ...learned }],
    [
      'has the wait, without requests',
      refused(unhurried, 2, t0, 90_000),
      2,
      0,
      { ...none, closedUntil: t0 + 90_000 },
    ],
  ] as const)('%s', (_, pace, set, laterMs, expected) => {
    expect(remembered(pace, set, t0 + laterMs)).toEqual(expected);
  });

  it('has the requests already sent at a small pace', () => {
    expect(remembered(refusedAfter(12), 600, t0)).toMatchObject({ sent: 12, learned: 12 });
  });
});

describe('ops are told', () => {
  const answeredOnce = answered(refusedAfter(12), 200, t0);
  const used = (requests: number) => many(answeredOnce, 600, t0 + minute, requests);
  const onlyRefused = answered(answered(unhurried, 429, t0), 429, t0 + minute);
  const quarter = 15 * minute;

  it.each([
    ['not by the refusal itself', answeredOnce, 600, 0, undefined],
    ['not before the learned pace is used up', used(11), 600, minute, undefined],
    ['once the learned pace is used up', used(12), 600, minute, true],
    [
      'not before fifteen minutes of nothing but refusals',
      onlyRefused,
      600,
      quarter - 1,
      undefined,
    ],
    ['after fifteen minutes of them', onlyRefused, 600, quarter, true],
    ['that it is over after an answer', answered(onlyRefused, 200, t0), 600, quarter, false],
    ['nothing of a set pace that is used up', many(unhurried, 4, t0, 4), 4, 0, false],
  ])('%s', (_, value, perMinute, laterMs, expected) => {
    const seen = paceSeen({ value, perMinute }, t0 + laterMs)['rate-limited'];
    expect(seen && seen.number > 0).toBe(expected);
  });
});

describe('a refusal early in our minute, by a host with its own minutes', () => {
  it('halves the pace at most', () => {
    const learned = refusedAfter(100);
    const at = t0 + 2 * minute;
    const early = refused(answered(spent(learned, 600, at), 429, at), 600, at);
    expect(early.learned).toBe(50);
    expect(opensAt(early, 600, at)).toBe(at + minute);
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
        pace = remembered(learned, set, now) ?? learned;
      }
    });
  });
});
