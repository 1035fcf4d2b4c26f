import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { recentWindow } from '../../../lambda/decisions/days.ts';

const chicago = 'America/Chicago';
const noon = '2026-11-21T12:00:00Z';

describe('the recent window', () => {
  it.each([
    ['begins so many days before today', noon, chicago, 3, '2026-11-18'],
    ['may be behind UTC', '2026-11-21T03:00:00Z', 'Pacific/Honolulu', 0, '2026-11-20'],
    ['may be ahead of UTC', noon, 'Pacific/Kiritimati', 0, '2026-11-22'],
    ['counts days', '2026-03-08T05:30:00Z', chicago, 1, '2026-03-06'],
    ['counts days of 23 hours', '2026-03-09T05:30:00Z', chicago, 1, '2026-03-08'],
    ['counts days of 25 hours', '2026-11-02T06:30:00Z', chicago, 1, '2026-11-01'],
  ])('%s', (_, now, timeZone, days, from) => {
    expect(recentWindow(Temporal.Instant.from(now), timeZone, days).from).toBe(from);
  });

  it('has the days from its first one to today', () => {
    const { days } = recentWindow(Temporal.Instant.from(noon), 'UTC', 3);
    expect(days).toEqual(['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21']);
  });
});
