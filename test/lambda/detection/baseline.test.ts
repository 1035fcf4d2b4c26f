import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { earlierRange, nextRangeDays, rangesAtOnce } from '../../../lambda/detection/baseline.ts';

describe('a range of a baseline', () => {
  it.each([
    [10, '2026-11-11'],
    [11, undefined],
    [12, undefined],
  ])('of %i days begins on %s, and is open if nothing is older', (days, from) => {
    const before = Temporal.PlainDate.from('2026-11-21');
    const range = earlierRange(before, days, Temporal.PlainDate.from('2026-11-10'));
    expect([range.from?.toString(), range.to?.toString()]).toEqual([from, '2026-11-20']);
  });

  it.each([
    ['grows fourfold if it held nothing', 30, 0, 120],
    ['grows no more than fourfold', 30, 1, 120],
    ['grows to a century at most', 20_000, 0, 36_525],
    ['shrinks to about 1,200 certifications', 30, 1_500, 24],
    ['stays the same with 1,200', 24, 1_200, 24],
    ['has whole days', 10, 1_300, 9],
    ['grows as far as 1,200 allow', 10, 600, 20],
    ['never shrinks to nothing: a day is not split', 1, 9_000, 1],
  ])('%s', (_, days, found, expected) => {
    expect(nextRangeDays(days, found)).toBe(expected);
  });

  const measured = { requests: 10, readMs: 4_000, commitMs: 1_000 };
  it.each([
    ['as many others as are set', 8, measured, 20_000, 6_000, 8],
    ['as many as can be committed in the time that is left', 16, measured, 12_500, 6_000, 8],
    ['none, if no other one fits into the time that is left', 16, measured, 4_000, 6_000, 1],
    ['as many as the pace has requests for', 16, measured, 20_000, 39, 3],
    ['none, if the pace has none', 16, measured, 20_000, 0, 1],
  ])('is read with %s', (_, set, one, leftMs, requestsLeft, expected) => {
    expect(rangesAtOnce(set, one, leftMs, requestsLeft)).toBe(expected);
  });
});
