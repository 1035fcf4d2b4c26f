import fc from 'fast-check';
import { expect, it } from 'vitest';
import { detectionTimes } from '../../../lambda/commands/status.ts';
import { Calendar } from '../../../lambda/decisions/calendar.ts';
import { nextDue, waited } from '../../../lambda/decisions/due.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { day, sum } from '../decisions/calendars.ts';

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

const unhurried = { days: 4_000, pace: undefined, isTotalRight: true, nowMs: now };
const minutesOf = (
  known: { recent: number; all: number },
  { every = 1, requests = periods.requests, ...present } = {},
) => {
  const settings = { ...tickSettings(), every, audit: { ...periods, requests } };
  return detectionTimes(settings, known, { ...unhurried, ...present });
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

const ten = { recent: 0, all: 10_000 };
const refusal = { at: now, until: now, answered: 0 };
const at = (learned: number) => ({
  pace: { since: now, sent: 0, refusal: { ...refusal, learned } },
});
const silence = { pace: { since: now, sent: 0, refusal: { ...refusal, until: now + 90_000 } } };

it.each<[{ recent: number; all: number }, object, Partial<ReturnType<typeof minutesOf>>]>([
  [{ recent: 40_000, all: 3_000_000 }, {}, { editedRecent: 82, editedHistory: 3_003 }],
  [{ recent: 0, all: 3_000_000 }, { requests: 40 }, { editedRecent: 16, editedHistory: 1_503 }],
  [{ recent: 0, all: 3_000_000 }, { every: 5 }, { editedRecent: 20, editedHistory: 3_007 }],
  [ten, {}, { newest: 1, news: 1, withdrawn: 12, editedRecent: 16, editedHistory: 112 }],
  // The host allows few requests, or none for a while.
  [ten, at(4), { newest: 1, news: 6, withdrawn: 22, editedRecent: 16, editedHistory: 103 }],
  [ten, silence, { newest: 3, news: 3, withdrawn: 14, editedRecent: 18, editedHistory: 114 }],
  // The total is capped, cached or estimated, so it does not move with each change.
  [ten, { isTotalRight: false }, { newest: 1, news: 112, withdrawn: 123, editedHistory: 112 }],
])('changes of %j are found so late at worst with %j', (known, present, minutes) => {
  expect(minutesOf(known, present)).toMatchObject(minutes);
});
