import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Calendar } from './calendar.ts';
import type { Observation } from './conditions.ts';

/** More than a year, so that yearly holidays are included. */
const monthsLookedAt = 13;
/** With less history nothing is unusual. */
const enoughDays = 60;
const leastDays = 3;

/** Facts that a tick compares with today, so that it need not read the calendar. */
export const silenceNoted = z.object({
  /** The last day, up to today, on which a certification is dated. */
  since: z.iso.date(),
  /** Days of the longest silence of the past 13 months; absent: there is no habit yet. */
  longest: z.exactOptional(z.int()),
});

export type Silence = Readonly<z.output<typeof silenceNoted>>;

/**
 * The usual silence, where there is a habit. A habit begins with certifications in most of the
 * weeks of sixty days on at least one weekday, not more than 13 months ago. A certification counts
 * on its date, not on its arrival.
 *
 * A missing certification counts as present. A withdrawn one begins no silence, and lengthens none
 * that is over: of earlier days, only the silence since the last look is new. One dated in the
 * future ends no silence before its day.
 *
 * @param before the facts of the last look
 */
export function silenceAfter(
  calendar: Calendar,
  today: Temporal.PlainDate,
  before?: Silence,
): Silence | undefined {
  const known = daysWithAny(calendar, today);
  const last = known.at(-1);
  if (last === undefined) return undefined;
  const noted = before !== undefined && before.since <= today.toString() ? before.since : last;
  const since = last > noted ? last : noted;
  const lookedAtFrom = today.subtract({ months: monthsLookedAt }).toString();
  const seen = longestOf(known, lookedAtFrom);
  if (before?.longest !== undefined) {
    const grown = Math.max(before.longest, daysBetween(before.since, since));
    return { since, longest: Math.min(seen, grown) };
  }
  const isUsual = since >= lookedAtFrom && hasHabit(known, since);
  return { since, ...(isUsual && { longest: seen }) };
}

/** Notes the days of certifications that were committed since the last look at the calendar. */
export function silenceEnded(
  before: Silence | undefined,
  days: readonly string[],
  today: Temporal.PlainDate,
): Silence | undefined {
  if (before === undefined) return undefined;
  const { since: last, longest } = before;
  const since = days.reduce((one, day) => (day > one && day <= today.toString() ? day : one), last);
  const quiet = daysBetween(last, since);
  return { since, ...(longest !== undefined && { longest: Math.max(longest, quiet) }) };
}

/**
 * Asks ops about an implausible silence, which may still be right. It is longer than the setting
 * allows. Without a setting, it is longer than one and a half times the longest silence so far, and
 * longer than three days.
 */
export function silenceSeen(
  silence: Silence | undefined,
  {
    silence: setting,
    timeZone,
  }: { readonly silence?: number | false | undefined; readonly timeZone: string },
  now: Temporal.Instant,
): Observation {
  const { since, longest } = silence ?? {};
  const usual = longest === undefined ? undefined : Math.max(leastDays, 1.5 * longest);
  const most = setting ?? usual;
  if (since === undefined || most === undefined || most === false) return { number: 0 };
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate();
  const silent = daysBetween(since, today.toString());
  if (silent <= most) return { number: 0 };
  const began = Temporal.PlainDate.from(since).toZonedDateTime(timeZone);
  const why =
    setting === undefined
      ? `the longest silence of the past ${monthsLookedAt} months was ${days(longest)}`
      : `\`silence\` is set to ${days(setting)}`;
  return {
    number: 1,
    since: began.epochMilliseconds,
    details: [`no certification since ${since} (${days(silent)}); ${why}`],
  };
}

const days = (count: number | false = 0) => (count === 1 ? '1 day' : `${count} days`);

function daysWithAny(calendar: Calendar, today: Temporal.PlainDate): readonly string[] {
  return calendar.days.filter((day) => {
    const { count, missing = 0 } = calendar.entry(day);
    return day <= today.toString() && count + missing > 0;
  });
}

/** The most days from one certification to the next; on weekdays only, a weekend makes three. */
function longestOf(known: readonly string[], from: string): number {
  return known.reduce((longest, day, index) => {
    const before = known[index - 1];
    return before === undefined || day < from
      ? longest
      : Math.max(longest, daysBetween(before, day));
  }, 0);
}

/**
 * Whether one weekday had certifications in most weeks of the sixty days up to the last
 * certification.
 */
function hasHabit(known: readonly string[], since: string): boolean {
  const from = later(since, -enoughDays);
  const isEnough = known.some((day) => day <= from);
  const ofWeekdays = Map.groupBy(
    known.filter((day) => day > from),
    (day) => Temporal.PlainDate.from(day).dayOfWeek,
  );
  const weeks = enoughDays / 7;
  return isEnough && [...ofWeekdays.values()].some(({ length }) => length > weeks / 2);
}

function daysBetween(from: string, to: string): number {
  return Temporal.PlainDate.from(from).until(to, { largestUnit: 'days' }).days;
}

function later(day: string, days: number): string {
  return Temporal.PlainDate.from(day).add({ days }).toString();
}
