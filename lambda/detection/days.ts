import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';

/** A day, written as `YYYY-MM-DD`. */
export const plainDay = z.codec(z.iso.date(), z.instanceof(Temporal.PlainDate), {
  decode: (text) => Temporal.PlainDate.from(text),
  encode: (day) => day.toString(),
});

/** The days that are read most often: from `from` on, with no end, so that tomorrow is in it. */
export interface RecentWindow {
  readonly from: Temporal.PlainDate;
  readonly today: Temporal.PlainDate;
}

/** Days from `from` to `to`, both included; open where one is absent. */
export const dayRange = z.readonly(
  z.object({ from: z.optional(plainDay), to: z.optional(plainDay) }),
);

export type DayRange = z.output<typeof dayRange>;

/**
 * The recent window at an instant: today in the partner's time zone and `recentDays` days before.
 * The API interprets its date filters in that zone (partner-api.md, 4.2, filter rule 3).
 */
export function recentWindow(
  now: Temporal.Instant,
  timeZone: string,
  recentDays: number,
): RecentWindow {
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate();
  return { from: today.subtract({ days: recentDays }), today };
}

/** The days from the window's first to today. */
export function daysIn({ from, today }: RecentWindow): string[] {
  const length = from.until(today, { largestUnit: 'days' }).days + 1;
  return Array.from({ length }, (_, days) => from.add({ days }).toString());
}

/** Whether an assessment of this day (`YYYY-MM-DD`) was completed before the window began. */
export function isLate(day: string, window: RecentWindow): boolean {
  return day < window.from.toString();
}

/** @param day `YYYY-MM-DD` */
export function isWithin(day: string, { from, to }: DayRange): boolean {
  return (
    (from === undefined || day >= from.toString()) && (to === undefined || day <= to.toString())
  );
}
