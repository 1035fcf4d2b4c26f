import { describe, expect, it } from 'vitest';
import { believed, isSearchedAgain, unexplainedAfter } from '../../../lambda/decisions/locate.ts';

const minute = 60_000;
const withdrawAfter = 10 * minute;
const now = Date.parse('2026-11-21T08:00:00Z');
const known = { unexplained: 40, unexplainedSince: now - 20 * minute };

describe('a difference that no day explains', () => {
  const explained = { unexplained: 0, unexplainedSince: undefined };
  it.each([
    ['keeps its date while its number is unchanged', known, 40, known],
    ['keeps its date over an unfinished search', known, undefined, known],
    [
      'gets a new date with a new number',
      known,
      -600,
      { unexplained: -600, unexplainedSince: now },
    ],
    ['gets a date when it begins', explained, 3, { unexplained: 3, unexplainedSince: now }],
    ['has no date when it is explained', known, 0, explained],
  ])('%s', (_, before, found, expected) => {
    expect(unexplainedAfter(before, found, now)).toEqual(expected);
  });

  it.each([
    [known, withdrawAfter, 40],
    [known, 20 * minute, 40],
    [known, 20 * minute + 1, 0],
    [{ unexplained: 40 }, withdrawAfter, 0],
  ])('is believed only once it has lasted: %o, %i ms', (one, lastingMs, expected) => {
    expect(believed(one, lastingMs, now)).toBe(expected);
  });

  it('is searched again after 1, 2, 4 … 64 minutes, and then every hour', () => {
    const at = (minutes: number) => now + minutes * minute;
    const again = Array.from({ length: 300 }, (_, nth) => nth + 1).filter((minutes) =>
      isSearchedAgain(now, at(minutes - 1), at(minutes)),
    );
    expect(again).toEqual([1, 2, 4, 8, 16, 32, 64, 120, 180, 240, 300]);
  });
});
