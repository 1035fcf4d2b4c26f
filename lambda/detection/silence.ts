import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Calendar } from './calendar.ts';
import type { Observation } from './conditions.ts';

/** Holidays that come once a year are in it. */
const monthsLookedAt = 13;
/** With less history nothing is unusual. */
const enoughDays = 60;
const leastDays = 3;

/** What a tick compares with today, so that it need not read the calendar. */
export const silenceNoted = z.object({
  /** The last day up to now that a certification is dated. */
  since: z.iso.date(),
  /** The first day on which that is an implausible silence. */
  from: z.iso.date(),
  /** Days of the longest silence of the past 13 months; absent: the setting says how long is too long. */
  longest: z.exactOptional(z.int()),
});

export type Silence = Readonly<z.output<typeof silenceNoted>>;

/**
 * From when on it is implausible that no certification comes: silent for longer than one and a half times the longest
 * silence so far, and for more than three days. Only where there is a habit, which begins with certifications in most of
 * the weeks of sixty days on one weekday or more, not more than 13 months ago. A day is the one that a certification is dated, whenever it came.
 *
 * What is missing counts as if it were there. What is withdrawn begins no silence, and makes none longer that is over: of
 * earlier days only the silence since the last look is new. What is dated in the future ends none before its day.
 *
 * @param setting days that are not too long; `false`: nothing is
 * @param before what the last look has noted
 */
export function silenceAfter(
  calendar: Calendar,
  today: Temporal.PlainDate,
  setting: number | false | undefined,
  before?: Silence,
): Silence | undefined {
  if (setting === false) return undefined;
  const known = daysWithAny(calendar, today);
  const last = known.at(-1);
  if (last === undefined) return undefined;
  const noted = before !== undefined && before.since <= today.toString() ? before.since : last;
  const since = last > noted ? last : noted;
  if (setting !== undefined) return { since, from: later(since, setting + 1) };
  const lookedAtFrom = today.subtract({ months: monthsLookedAt }).toString();
  const isUsual = since >= lookedAtFrom && hasHabit(known, since);
  if (before?.longest === undefined && !isUsual) return undefined;
  const seen = longestOf(known, lookedAtFrom);
  const grown = before?.longest && Math.max(before.longest, daysBetween(before.since, since));
  const longest = Math.min(seen, grown ?? seen);
  const most = Math.floor(Math.max(leastDays, 1.5 * longest));
  return { since, from: later(since, most + 1), longest };
}

/** Certifications of these days were committed since the last look at the calendar. */
export function silenceEnded(
  before: Silence | undefined,
  days: readonly string[],
  today: Temporal.PlainDate,
): Silence | undefined {
  if (before === undefined) return undefined;
  const since = [before.since, ...days]
    .filter((day) => day <= today.toString())
    .sort()
    .at(-1);
  if (since === undefined || since === before.since) return before;
  const quiet = daysBetween(before.since, since);
  const { longest } = before;
  return {
    since,
    from: later(since, daysBetween(before.since, before.from)),
    ...(longest !== undefined && { longest: Math.max(longest, quiet) }),
  };
}

/** A question: it may well be so. */
export function silenceSeen(
  silence: Silence | undefined,
  now: Temporal.ZonedDateTime,
): Observation {
  const today = now.toPlainDate();
  if (silence === undefined || today.toString() < silence.from) return { number: 0 };
  const { since, longest } = silence;
  const began = Temporal.PlainDate.from(since);
  const days = `no certification since ${since} (${daysBetween(since, today.toString())} days)`;
  const usual =
    longest === undefined
      ? 'the setting `silence` allows fewer'
      : `the longest silence of the past ${monthsLookedAt} months was ${longest} ${longest === 1 ? 'day' : 'days'}`;
  return {
    number: 1,
    since: began.toZonedDateTime(now.timeZoneId).epochMilliseconds,
    details: [`${days}; ${usual}`],
  };
}

function daysWithAny(calendar: Calendar, today: Temporal.PlainDate): readonly string[] {
  return calendar.days.filter((day) => {
    const { count, missing = 0 } = calendar.entry(day);
    return day <= today.toString() && count + missing > 0;
  });
}

/** Days from one certification to the next, at most; of weekdays only, a weekend is three. */
function longestOf(known: readonly string[], from: string): number {
  return known.reduce((longest, day, index) => {
    const before = known[index - 1];
    return before === undefined || day < from
      ? longest
      : Math.max(longest, daysBetween(before, day));
  }, 0);
}

/** Whether in the sixty days up to the last there was a weekday that had certifications in most weeks. */
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
