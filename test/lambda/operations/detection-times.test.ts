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
  known: { recent: number; all: number },
  { every = 1, requests = periods.requests } = {},
) => detectionTimes({ every, withdrawAfterMs, audit: { ...periods, requests } }, known);

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

it.each([
  [{ recent: 40_000, all: 3_000_000 }, {}, 82, 3_003],
  [{ recent: 0, all: 3_000_000 }, { requests: 40 }, 16, 1_503],
  [{ recent: 0, all: 3_000_000 }, { every: 5 }, 20, 3_007],
  [{ recent: 0, all: 10_000 }, {}, 16, 112],
])('edits in %j take so long at worst with %j', (known, settings, editedRecent, editedHistory) => {
  expect(minutesOf(known, settings)).toMatchObject({ editedRecent, editedHistory });
});
