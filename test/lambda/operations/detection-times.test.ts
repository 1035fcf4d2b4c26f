import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Calendar } from '../../../lambda/detection/calendar.ts';
import { nextDue, waited } from '../../../lambda/detection/due.ts';
import { detectionTimes } from '../../../lambda/operations/commands/status.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { day, sum } from '../detection/calendars.ts';

const now = Date.parse('2026-11-21T08:00:00Z');
const { audit: periods, withdrawAfterMs } = tickSettings();

/** Requests of one pass over a history of these days, each of which fits into a page. */
function requestsOfAPass(counts: readonly number[]): number {
  let calendar = new Calendar(counts.map((count, index) => [day(index), { count, readAt: 0 }]));
  const settings = { ...periods, withdrawAfterMs, recentFrom: day(counts.length) };
  for (let requests = 0; ; requests += 1) {
    const range = nextDue(calendar, waited('audit', calendar, settings, now));
    if (range === undefined) return requests;
    const days = calendar.daysOf(range);
    calendar = calendar.with(days.map((one) => [one, { ...calendar.entry(one), readAt: now }]));
  }
}

const minutesOf = (
  certifications: { recent: number; all: number },
  { every = 1, requests = periods.requests } = {},
) => {
  const settings = { every, withdrawAfterMs, audit: { ...periods, requests } };
  return detectionTimes(settings, certifications);
};

it('a pass over the history takes at most the stated time, for any counts of days', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 80 }),
      (counts) => {
        const minutes = minutesOf({ recent: 0, all: sum(counts) }, { requests: 1 });
        expect(requestsOfAPass(counts)).toBeLessThanOrEqual(minutes.editedHistory);
      },
    ),
    // The worst case: no two days fit into a page.
    { examples: [[Array.from({ length: 80 }, () => 50)]] },
  );
});

it('a history that needs more requests than ticks may send takes as long as these need', () => {
  const minutes = minutesOf({ recent: 40_000, all: 3_000_000 });
  expect(minutes.editedRecent).toBe(2 * 41);
  expect(minutes.editedHistory).toBe(60_001 / 20 + 0.95 + 1 + 1);
});

it('an edit in 10,000 takes less than two hours at worst, for any counts of days', () => {
  expect(minutesOf({ recent: 0, all: 10_000 }).editedHistory).toBeLessThan(120);
});

it('edits are found sooner with more requests a tick, and with more ticks', () => {
  const history = (every: number, requests: number) =>
    minutesOf({ recent: 0, all: 3_000_000 }, { every, requests }).editedHistory;
  expect(history(1, 40)).toBeLessThan(history(1, 20));
  expect(history(1, 20)).toBeLessThan(history(5, 20));
});
