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

describe('a minute of requests', () => {
  it('has room for the set number of requests, counted from its first one', () => {
    const pace = many(unhurried, 3, t0 + 5, 2);
    expect(opensAt(pace, 3, t0 + 9)).toBe(t0 + 9);
    expect(opensAt(spent(pace, 3, t0 + 9), 3, t0 + 9)).toBe(t0 + 5 + minute);
    expect(opensAt(spent(pace, 3, t0 + 9), 3, t0 + 5 + minute)).toBe(t0 + 5 + minute);
  });

  it('begins again when the clock is set back', () => {
    expect(opensAt(many(unhurried, 3, t0, 3), 3, t0 - 1)).toBe(t0 - 1);
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

  it('in a quiet minute lowers the pace to four requests', () => {
    expect(refusedAfter(1)).toMatchObject({ learned: 4 });
    expect(refusedAfter(1, t0, 3)).toMatchObject({ learned: 3 });
  });

  it('closes for the time that the host asks, an hour at most', () => {
    expect(refused(unhurried, 600, t0, 600_000)).toMatchObject({ closedUntil: t0 + 600_000 });
    expect(refused(unhurried, 600, t0, 24 * hour)).toMatchObject({ closedUntil: t0 + hour });
  });

  it("that lasts longer than an hour is ignored as another clock's", () => {
    const pace = { ...unhurried, closedUntil: t0 + hour + 1 };
    expect(opensAt(pace, 600, t0)).toBe(t0);
    expect(opensAt(pace, 600, t0 + 1)).toBe(t0 + hour + 1);
  });

  it('is forgotten after a day', () => {
    const pace = refusedAfter(12);
    expect(paceAt(pace, 600, t0 + 24 * hour - 1).pace).toMatchObject({ learned: 12 });
    expect(paceAt(pace, 600, t0 + 24 * hour).pace).not.toHaveProperty('learned');
    expect(paceAt(pace, 600, t0 - 1).pace).not.toHaveProperty('learned');
  });

  it('has no effect at or below the set pace', () => {
    expect(paceAt(refusedAfter(12), 12, t0).pace).not.toHaveProperty('learned');
  });
});

describe('a learned pace', () => {
  const used = (at: number) => many(refusedAfter(12), 600, at, 12);

  it('is raised by half after a minute that used it up, from ten minutes after the refusal on', () => {
    expect(paceAt(used(t0 + 9 * minute), 600, t0 + 10 * minute - 1).pace).toMatchObject({
      learned: 12,
    });
    const raised = paceAt(used(t0 + 9 * minute), 600, t0 + 10 * minute).pace;
    expect(raised).toMatchObject({ learned: 18, refusedAt: t0, sent: 0 });
    const more = many(raised, 600, t0 + 10 * minute, 18);
    expect(paceAt(more, 600, t0 + 11 * minute).pace).toMatchObject({ learned: 27 });
  });

  it('is not raised after a minute that did not use it up, or in the minute of a refusal', () => {
    const pace = many(refusedAfter(12), 600, t0 + 12 * minute, 11);
    expect(paceAt(pace, 600, t0 + 13 * minute).pace).toMatchObject({ learned: 12 });
    const refusedAgain = { ...used(t0 + 12 * minute), refusedAt: t0 + 12 * minute + 1 };
    expect(paceAt(refusedAgain, 600, t0 + 40 * minute).pace).toMatchObject({ learned: 12 });
  });

  it('ends when it reaches the set pace', () => {
    const pace = many(refusedAfter(12, t0, 15), 15, t0 + 12 * minute, 12);
    expect(paceAt(pace, 15, t0 + 13 * minute).pace).not.toHaveProperty('learned');
  });
});

describe('the pace that the next tick has to know', () => {
  it('is nothing while half of the minute is left', () => {
    expect(remembered(many(unhurried, 4, t0, 2), 4, t0)).toBeUndefined();
    expect(remembered(many(unhurried, 4, t0, 3), 4, t0)).toMatchObject({ since: t0, sent: 3 });
    expect(remembered(many(unhurried, 4, t0, 3), 4, t0 + minute)).toBeUndefined();
  });

  it('has the refusal, and the requests already sent at a small pace', () => {
    expect(remembered(refusedAfter(12), 600, t0)).toMatchObject({ sent: 12, learned: 12 });
    expect(remembered(refusedAfter(12), 600, t0 + minute)).toEqual({
      since: 0,
      sent: 0,
      learned: 12,
      refusedAt: t0,
      refusedSince: t0,
    });
    expect(remembered(refused(unhurried, 2, t0, 90_000), 2, t0)).toEqual({
      since: 0,
      sent: 0,
      closedUntil: t0 + 90_000,
    });
  });
});

/** Undefined: unknown. */
const isTooSlow = (value: Pace, perMinute: number, now: number) => {
  const seen = paceSeen({ value, perMinute }, now)['rate-limited'];
  return seen && seen.number > 0;
};

describe('ops are told', () => {
  it('once the learned pace is used up, and not by the refusal itself', () => {
    const pace = answered(refusedAfter(12), 200, t0);
    expect(isTooSlow(pace, 600, t0)).toBeUndefined();
    const next = many(pace, 600, t0 + minute, 11);
    expect(isTooSlow(next, 600, t0 + minute)).toBeUndefined();
    expect(isTooSlow(spent(next, 600, t0 + minute), 600, t0 + minute)).toBe(true);
  });

  it('after fifteen minutes with nothing but refusals', () => {
    const pace = answered(answered(unhurried, 429, t0), 429, t0 + minute);
    expect(isTooSlow(pace, 600, t0 + 15 * minute - 1)).toBeUndefined();
    expect(isTooSlow(pace, 600, t0 + 15 * minute)).toBe(true);
    expect(isTooSlow(answered(pace, 200, t0), 600, t0 + 15 * minute)).toBe(false);
  });

  it('but not if the set pace is used up', () => {
    expect(isTooSlow(many(unhurried, 4, t0, 4), 4, t0)).toBe(false);
  });
});

describe('a refusal early in our minute, by a host with its own minutes', () => {
  it('halves the pace at most', () => {
    const learned = refusedAfter(100);
    const early = refused(
      answered(spent(learned, 600, t0 + 2 * minute), 429, t0 + 2 * minute),
      600,
      t0 + 2 * minute,
    );
    expect(early.learned).toBe(50);
    expect(opensAt(early, 600, t0 + 2 * minute)).toBe(t0 + 3 * minute);
  });
});

/** Requests of a minute that begins with its first request. */
const counted = (begun: number, count: number, now: number): [begun: number, count: number] =>
  now - begun >= minute ? [now, 1] : [begun, count + 1];

const refusedAt = (pace: Pace, set: number, now: number, retryAfterMs: number | undefined) =>
  refused(answered(pace, 429, now), set, now, retryAfterMs);

describe('at any pace of the host', () => {
  it('the client sends no more than the set number of requests, and sends again within an hour', () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 90_000 }),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 2 * hour }), { nil: undefined }),
      isRefused: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 20 }), fc.array(step), (set, steps) => {
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
          const learned = isRefused
            ? refusedAt(pace, set, now, retryAfterMs)
            : answered(pace, 200, now);
          pace = remembered(learned, set, now) ?? learned;
        }
      }),
    );
  });
});
