import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { Calendar } from '../../../lambda/decisions/calendar.ts';

const epoch = Temporal.PlainDate.from('2019-11-21');

/** The n-th day after a fixed day in 2019. */
export function day(n: number): string {
  return epoch.add({ days: n }).toString();
}

/** Different days in order, with gaps between them. */
const anyDays = fc
  .uniqueArray(fc.integer({ min: 0, max: 4_000 }), { minLength: 1, maxLength: 60 })
  .map((numbers) => numbers.toSorted((a, b) => a - b).map(day));

/** Mostly small days, and a few of more than a page. */
const anyCount = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 30 }) },
  { weight: 1, arbitrary: fc.integer({ min: 31, max: 400 }) },
);

/** A calendar, and the position at which its recent window begins. */
export const anyCalendar = anyDays.chain((days) =>
  fc.record({
    calendar: fc
      .tuple(...days.map(() => anyCount))
      .map(
        (counts) =>
          new Calendar(days.map((day, index) => [day, { count: counts[index] ?? 0, readAt: 0 }])),
      ),
    recent: fc.nat({ max: days.length - 1 }),
  }),
);

export function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}

export const entryAt = (calendar: Calendar, position: number) =>
  calendar.entry(calendar.days[position] ?? '');
