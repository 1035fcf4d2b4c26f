import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { earlierRange, nextRangeDays } from '../../../lambda/detection/baseline.ts';
import type { DayRange } from '../../../lambda/detection/days.ts';
import { sum } from './calendars.ts';

const start = Temporal.PlainDate.from('2026-11-21');
/** Days before the start, back to the year 27. */
const age = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 4_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 730_000 }) },
);
/** The number of certifications by their days before the start. */
const history = fc.dictionary(age.map(String), fc.integer({ min: 1, max: 3_000 }), {
  minKeys: 1,
  maxKeys: 40,
});

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
  it('hold each certification once, adjoin each other, and end with one that is open towards the past', () => {
    fc.assert(
      fc.property(history, (counts) => {
        const all = rangesOf(counts);
        expect(sum(all.map(({ found }) => found))).toBe(sum(Object.values(counts)));
        expect(all[0]?.to?.toString()).toBe(start.toString());
        expect(all.slice(1).map(({ to }) => to?.add({ days: 1 }).toString())).toEqual(
          all.slice(0, -1).map(({ from }) => from?.toString()),
        );
        expect(all.at(-1)?.from).toBeUndefined();
      }),
    );
  });

  it('end with the range that holds the oldest certification', () => {
    fc.assert(
      fc.property(history, (counts) => {
        expect(rangesOf(counts).at(-1)?.found).toBeGreaterThan(0);
      }),
    );
  });

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

  it('grow no more than fourfold at once and never shrink to nothing', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 36_525 }),
        fc.nat({ max: 1_000_000 }),
        (days, found) => {
          const next = nextRangeDays(days, found);
          expect(next).toBeGreaterThanOrEqual(1);
          expect(next).toBeLessThanOrEqual(Math.min(4 * days, 36_525));
        },
      ),
    );
  });
});
