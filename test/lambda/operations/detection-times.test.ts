import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextDue, waitedForAudit } from '../../../lambda/detection/audit.ts';
import { Calendar } from '../../../lambda/detection/calendar.ts';
import { detectionTimes } from '../../../lambda/operations/detection-times.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { day, sum } from '../detection/calendars.ts';

const now = Date.parse('2026-11-21T08:00:00Z');
const { audit: periods, withdrawAfterMs } = tickSettings();

/** Requests of one pass over a history of such days, none of which is more than a page. */
function requestsOfAPass(counts: readonly number[]): number {
  let calendar = new Calendar(counts.map((count, index) => [day(index), { count, readAt: 0 }]));
  const recent = calendar.days.length;
  for (let requests = 0; ; requests += 1) {
    const span = nextDue(calendar, waitedForAudit(calendar, recent, now, periods));
    if (span === undefined) return requests;
    const days = calendar.daysOf(span);
    calendar = calendar.with(days.map((one) => [one, { ...calendar.entry(one), readAt: now }]));
  }
}

it('a pass over the history takes no longer than is said, however the days are filled', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 80 }),
      (counts) => {
        const settings = { every: 1, withdrawAfterMs, audit: { ...periods, requests: 1 } };
        const times = detectionTimes(settings, { recent: 0, all: sum(counts) });
        const [history] = times.filter(({ change }) => change === 'edited-history');
        expect(requestsOfAPass(counts)).toBeLessThanOrEqual((history?.minutes ?? 0) - 24 * 60);
      },
    ),
    // The worst there is: no two days fit into a page.
    { examples: [[Array.from({ length: 80 }, () => 50)]] },
  );
});

it('what needs more requests than ticks may make takes as much longer, in the recent days as in the history', () => {
  const certifications = { recent: 40_000, all: 3_000_000 };
  const times = detectionTimes(
    { every: 1, withdrawAfterMs, audit: { ...periods, requests: 20 } },
    certifications,
  );
  const minutesOf = (wanted: string) =>
    times.find(({ change }) => change === wanted)?.minutes ?? Number.NaN;
  // 53 a minute for the one and 42 for the other, of which there are 20.
  expect(minutesOf('edited-recent') / (15 + 41)).toBeCloseTo(4.75, 1);
  expect(minutesOf('edited-history') / (24 * 60 + 3_001)).toBeCloseTo(4.75, 1);
});

it('what a tick may ask more often, or a schedule runs more often, is found sooner', () => {
  const historyOf = (every: number, requests: number) =>
    detectionTimes(
      { every, withdrawAfterMs, audit: { ...periods, requests } },
      { recent: 0, all: 100_000 },
    ).find(({ change }) => change === 'edited-history')?.minutes;
  expect(historyOf(1, 20)).toBe(24 * 60 + 101);
  expect(historyOf(5, 20)).toBe(24 * 60 + 505);
  expect(historyOf(1, 40)).toBe(24 * 60 + 51);
});
