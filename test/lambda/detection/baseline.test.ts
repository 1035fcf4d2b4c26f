import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { earlierRange, nextRangeDays } from '../../../lambda/detection/baseline.ts';
import type { DayRange } from '../../../lambda/detection/days.ts';
import { forAll } from '../../support/for-all.ts';
import { sum } from './calendars.ts';

const start = Temporal.PlainDate.from('2026-11-21');
/** The ranges of a baseline, and the number that each held. */
function rangesOf(counts: Readonly<Record<string, number>>) {
  const days = Object.keys(counts).map((ago) => start.subtract({ days: Number(ago) }));
  const oldest = days.reduce((a, b) => (Temporal.PlainDate.compare(a, b) < 0 ? a : b));
  const all: (DayRange & { readonly found: number })[] = [];
  let before = start.add({ days: 1 });
  let length = 30;
  for (;;) {
    const range = earlierRange(before, length, oldest);
    const found = sum(
      Object.entries(counts).map(([ago, count]) => {
        const one = start.subtract({ days: Number(ago) }).toString();
        const isIn = (range.from?.toString() ?? '') <= one && one <= (range.to?.toString() ?? '~');
        return isIn ? count : 0;
      }),
    );
    all.push({ ...range, found });
    if (range.from === undefined || all.length > 4_000) return all;
    before = range.from;
    length = nextRangeDays(length, found);
  }
}

describe('the ranges of a baseline', () => {
  it('leave no empty range behind the oldest certification', () => {
    const oldest = Temporal.PlainDate.from('2026-11-10');
    expect(earlierRange(start, 11, oldest).from).toBeUndefined();
    expect(earlierRange(start, 12, oldest).from).toBeUndefined();
    expect(earlierRange(start, 10, oldest).from?.toString()).toBe('2026-11-11');
  });

  it('are few for a small history, however old', () => {
    // The ranges grow fourfold from a month up to a century: 2,000 years.
    expect(rangesOf({ '1': 1, '730000': 1 }).length).toBeLessThan(30);
  });

  it('of a steady history hold about 1,200 each, and no day is split', () => {
    const steady = rangesOf(Object.fromEntries(Array.from({ length: 800 }, (_, ago) => [ago, 50])));
    const inner = steady.slice(1, -1).map(({ found }) => found);
    expect(inner).toEqual(inner.map(() => 1_200));
    const full = rangesOf(Object.fromEntries(Array.from({ length: 20 }, (_, ago) => [ago, 9_000])));
    expect(full.slice(1).every(({ found }) => found === 9_000)).toBe(true);
  });

  it('grow no more than fourfold at once and never shrink to nothing', () =>
    forAll(fc.integer({ min: 1, max: 36_525 }), fc.nat({ max: 1_000_000 }), (days, found) => {
      const next = nextRangeDays(days, found);
      expect(next).toBeGreaterThanOrEqual(1);
      expect(next).toBeLessThanOrEqual(Math.min(4 * days, 36_525));
    }));
});
