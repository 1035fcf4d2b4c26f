import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';

/** A day, written as `YYYY-MM-DD`. */
export const plainDay = z.codec(z.iso.date(), z.instanceof(Temporal.PlainDate), {
  decode: (text) => Temporal.PlainDate.from(text),
  encode: (day) => day.toString(),
});

/** An instant, written as milliseconds since the epoch. */
export const instant = z.codec(z.number(), z.instanceof(Temporal.Instant), {
  decode: (milliseconds) => Temporal.Instant.fromEpochMilliseconds(milliseconds),
  encode: (at) => at.epochMilliseconds,
});

/** The API's dates can name no earlier day, and none after the year 9999. */
export const firstDay = '0001-01-01';

/** @returns undefined beyond the calendar: no request can ask for such a day */
export function daysFrom(day: Temporal.PlainDate, days: number): Temporal.PlainDate | undefined {
  const other = day.add({ days });
  return other.year >= 1 && other.year <= 9_999 ? other : undefined;
}

/** The days that are read most often: from `from` on, with no end, so that tomorrow is in it. */
export interface RecentWindow {
  /** `YYYY-MM-DD`: a certification dated before it is late. */
  readonly from: string;
  readonly today: Temporal.PlainDate;
  /** From the window's first day to today. */
  readonly days: readonly string[];
}

/** Days from `from` to `to`, both included; open where one is absent. */
export const dayRange = z.readonly(
  z.object({ from: z.optional(plainDay), to: z.optional(plainDay) }),
);

export type DayRange = z.output<typeof dayRange>;

/**
 * The recent window at an instant: today in the partner's time zone and `recentDays` days before.
 * The API interprets its date filters in that zone (docs/partner.md, 4.2, filter rule 3).
 */
export function recentWindow(
  now: Temporal.Instant,
  timeZone: string,
  recentDays: number,
): RecentWindow {
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate();
  const first = today.subtract({ days: recentDays });
  const days = Array.from({ length: recentDays + 1 }, (_, n) => first.add({ days: n }).toString());
  return { from: first.toString(), today, days };
}

/** @param day `YYYY-MM-DD` */
export function isWithin(day: string, { from, to }: DayRange): boolean {
  return (
    (from === undefined || day >= from.toString()) && (to === undefined || day <= to.toString())
  );
}

/** Where in its list by name the read of a range resumes that does not fit into one tick. */
export const bookmark = z.object({
  range: dayRange,
  offset: z.int(),
  /** The next page must show one of these ids. */
  anchors: z.readonly(z.array(z.int())),
  /** The rest can be read but not proven, so no anchor is needed. */
  isSweep: z.exactOptional(z.boolean()),
  /** The partner's count of the range when the read began. */
  count: z.exactOptional(z.int()),
  /** It has shown fewer different ids than places of the list. */
  isContradicted: z.exactOptional(z.boolean()),
});

export type Bookmark = Readonly<z.output<typeof bookmark>>;

/** Where a read resumes that does not fit into one tick. */
export const cursor = z.readonly(
  z.extend(bookmark, {
    /** The calendar's day that its range stands for; absent: it is a range of the baseline. */
    day: z.exactOptional(z.iso.date()),
  }),
);

export type Cursor = z.output<typeof cursor>;
