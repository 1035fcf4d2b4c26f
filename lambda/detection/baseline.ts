import type { Temporal } from 'temporal-polyfill';
import type { DayRange } from './days.ts';

/**
 * Assessments that a range of the baseline should have. Read by name, the overlap of its pages
 * grows with the range (more people share a name) and the waste of its last, partly filled page
 * shrinks; measured in `npm run bench`.
 */
const rangeSize = 1_200;
const growth = 4;
/** A century: a range of a history that is all but empty. */
const mostDays = 36_525;

/**
 * How many days the next range should have, from what the last one held.
 * @param found what a range of `days` days held
 */
export function nextRangeDays(days: number, found: number): number {
  const fitting = found === 0 ? days * growth : Math.floor((days * rangeSize) / found);
  return Math.max(1, Math.min(fitting, days * growth, mostDays));
}

/**
 * The days of the next range, going back from `before`.
 * @param oldest the day of the oldest assessment; what is left back to it and before is one range
 */
export function earlierRange(
  before: Temporal.PlainDate,
  days: number,
  oldest: Temporal.PlainDate,
): DayRange {
  const from = before.subtract({ days });
  const to = before.subtract({ days: 1 });
  return from.since(oldest, { largestUnit: 'days' }).days > 0 ? { from, to } : { to };
}
