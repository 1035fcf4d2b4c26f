import { describe, expect, it } from 'vitest';
import { believed, isSearchedAgain, unexplainedAfter } from '../../../lambda/detection/locate.ts';

const minute = 60_000;
const withdrawAfter = 10 * minute;
const now = Date.parse('2026-11-21T08:00:00Z');
const known = { unexplained: 40, unexplainedSince: now - 20 * minute };

describe('a difference that no day explains', () => {
  it('keeps its date while its number is unchanged, also over an unfinished search', () => {
    expect(unexplainedAfter(known, 40, now)).toEqual(known);
    expect(unexplainedAfter(known, undefined, now)).toEqual(known);
  });

  it('gets a new date with a new number, and none when it is explained', () => {
    expect(unexplainedAfter(known, -600, now)).toEqual({
      unexplained: -600,
      unexplainedSince: now,
    });
    expect(unexplainedAfter(known, 0, now)).toEqual({
      unexplained: 0,
      unexplainedSince: undefined,
    });
    expect(unexplainedAfter({ unexplained: 0 }, 3, now)).toMatchObject({ unexplainedSince: now });
  });

  it('is believed only once it has lasted', () => {
    expect(believed(known, withdrawAfter, now)).toBe(40);
    expect(believed(known, 20 * minute, now)).toBe(40);
    expect(believed(known, 20 * minute + 1, now)).toBe(0);
    expect(believed({ unexplained: 40 }, withdrawAfter, now)).toBe(0);
  });

  it('is searched again after 1, 2, 4 … 64 minutes, and then every hour', () => {
    const at = (minutes: number) => now + minutes * minute;
    const again = Array.from({ length: 300 }, (_, nth) => nth + 1).filter((minutes) =>
      isSearchedAgain(now, at(minutes - 1), at(minutes)),
    );
    expect(again).toEqual([1, 2, 4, 8, 16, 32, 64, 120, 180, 240, 300]);
  });
});
