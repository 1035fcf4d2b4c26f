import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  type Activities,
  type Activity,
  activities,
  activityAfter,
} from '../../../lambda/decisions/activity.ts';
import { forAll } from '../../support/for-all.ts';

const minuteMs = 60_000;
const start = Date.parse('2026-11-21T16:05:20Z');
const quiet: Activity = { requests: 1, found: 0, held: 0, failed: 0 };

interface Ticked extends Activity {
  readonly minute: number;
}

/** The ticks, each so many minutes after the one before. */
function ticksFrom(some: readonly (Activity & { readonly after: number })[]): Ticked[] {
  let minute = Math.floor(start / minuteMs);
  return some.map(({ after, ...tick }) => {
    minute += after;
    return { ...tick, minute };
  });
}

/** The record after these ticks, each of which reads it from the state. */
function keptAfter(ticks: readonly Ticked[]): { text: string; kept: Activities } {
  let text: string | undefined;
  for (const { minute, ...tick } of ticks) {
    const before = text === undefined ? undefined : z.decode(activities, text);
    text = z.encode(activities, activityAfter(before, tick, minute * minuteMs + 20_000));
  }
  return { text: text ?? '', kept: z.decode(activities, text ?? '') };
}

const hourOf = (minute: number) => Math.floor(minute / 60);

/** The record, with the minute of each tick. */
function timesOf({ minute, ticks, hours }: Activities) {
  let at = minute;
  return {
    ticks: ticks.map(({ afterMinutes, ...tick }) => {
      const own = { ...tick, minute: at };
      at -= afterMinutes;
      return own;
    }),
    hours: hours.map((sum, index) => ({ ...sum, hour: hourOf(minute) - index })),
  };
}

const sumOf = (ticks: readonly Activity[]) => {
  const sum = { requests: 0, found: 0, held: 0, failed: 0 };
  for (const tick of ticks)
    for (const what of ['requests', 'found', 'held', 'failed'] as const) sum[what] += tick[what];
  return sum;
};

const anyTicks = fc
  .array(
    fc.record({
      after: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 3_000 })),
      requests: fc.oneof(fc.constant(1), fc.nat(2_000)),
      found: fc.oneof(fc.constant(0), fc.nat(100_000)),
      held: fc.oneof(fc.constant(0), fc.nat(100_000)),
      failed: fc.constantFrom(0, 1),
    }),
    { minLength: 1, maxLength: 120 },
  )
  .map(ticksFrom);

describe('the record of the last ticks and hours', () => {
  it('holds the newest ticks as they were, as many as fit into a third of a kilobyte', () =>
    forAll(anyTicks, (ticks) => {
      const { text, kept } = keptAfter(ticks);
      expect(text.length).toBeLessThanOrEqual(310);
      const { ticks: told, hours } = timesOf(kept);
      expect(told).toEqual(ticks.toReversed().slice(0, told.length));
      expect(told.length).toBeGreaterThanOrEqual(Math.min(5, ticks.length));
      for (const { hour, ...sum } of hours)
        expect(sum).toEqual(sumOf(ticks.filter(({ minute }) => hourOf(minute) === hour)));
      expect(hours[0]?.hour).toBe(hourOf(ticks.at(-1)?.minute ?? 0));
    }));

  it('holds five busy ticks in that room', () => {
    const most = { requests: 1e6, found: 1e9, held: 1e9, failed: 1, after: 60 };
    const { kept, text } = keptAfter(ticksFrom(Array.from({ length: 60 }, () => most)));
    expect(text.length).toBeLessThanOrEqual(310);
    expect(kept.ticks.length).toBeGreaterThan(4);
  });

  it('holds thirty quiet ticks and a day of hours, with a tick every minute or every five', () => {
    for (const after of [1, 5]) {
      const ticks = ticksFrom(Array.from({ length: 2_000 }, () => ({ ...quiet, after })));
      const { kept, text } = keptAfter(ticks);
      expect(kept.ticks).toHaveLength(30);
      expect(kept.hours).toHaveLength(24);
      expect(kept.hours[1]).toEqual({ ...quiet, requests: 60 / after });
      expect(text.length).toBeLessThan(220);
    }
  });

  it('goes on when a clock is set back', () => {
    const [first, second] = ticksFrom([
      { ...quiet, after: 1 },
      { ...quiet, after: -30, found: 2 },
    ]);
    const { kept } = keptAfter([first, second].flatMap((one) => one ?? []));
    expect(kept.minute).toBe(first?.minute);
    expect(kept.ticks.map(({ found }) => found)).toEqual([2, 0]);
    expect(kept.hours).toMatchObject([{ requests: 2, found: 2 }]);
  });

  it('refuses other formats', () => {
    for (const text of ['', 'a', 'a;b', 'a;b;c;d', '<b>;;'])
      expect(z.safeDecode(activities, text).success, text).toBe(false);
  });
});
