import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { recentWindow } from '../../../lambda/detection/days.ts';

const from = (instant: string, timeZone: string, days = 3) =>
  recentWindow(Temporal.Instant.from(instant), timeZone, days).from;

describe('the recent window', () => {
  it("begins the given number of days before today in the partner's time zone", () => {
    expect(from('2026-11-21T12:00:00Z', 'America/Chicago')).toBe('2026-11-18');
  });

  it("takes today's date in that zone: still yesterday behind UTC, already tomorrow ahead of it", () => {
    expect(from('2026-11-21T03:00:00Z', 'Pacific/Honolulu', 0)).toBe('2026-11-20');
    expect(from('2026-11-21T12:00:00Z', 'Pacific/Kiritimati', 0)).toBe('2026-11-22');
  });

  it('counts days, not 24 hours, across both daylight-saving changes', () => {
    expect(from('2026-03-08T05:30:00Z', 'America/Chicago', 1)).toBe('2026-03-06');
    expect(from('2026-03-09T05:30:00Z', 'America/Chicago', 1)).toBe('2026-03-08');
    expect(from('2026-11-02T06:30:00Z', 'America/Chicago', 1)).toBe('2026-11-01');
  });

  it('has the days from its first one to today', () => {
    const window = recentWindow(Temporal.Instant.from('2026-11-21T12:00:00Z'), 'UTC', 3);
    expect(['2026-11-17', '2026-11-18', '2026-11-22'].filter((day) => day < window.from)).toEqual([
      '2026-11-17',
    ]);
    expect(window.days).toEqual(['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21']);
  });
});
