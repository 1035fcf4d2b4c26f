import type { Calendar, Span } from './calendar.ts';

export interface AuditPeriods {
  /** Within which every day of the recent window is read again, in milliseconds. */
  readonly recentMs: number;
  /** Within which every other day is. */
  readonly historyMs: number;
}

const onePage = 99;
/** For what has no days: the year 2255. */
const notSoon = 9e12;

/**
 * The next days to prove again: those with the oldest read that is due, and neighbours that fit
 * into the same page and have not been read since half their period.
 *
 * @param recent position of the recent window's first day
 * @returns `undefined` when nothing is due
 */
export function nextAudit(
  calendar: Calendar,
  recent: number,
  nowMs: number,
  periods: AuditPeriods,
): Span | undefined {
  const age = (position: number) => nowMs - calendar.at(position).readAt;
  const period = (position: number) => (position >= recent ? periods.recentMs : periods.historyMs);

  let oldest: number | undefined;
  let longest = 1;
  calendar.days.forEach((_, position) => {
    // By how many periods it is overdue, so that recent days and history get their turns alike.
    const periods = age(position) / period(position);
    if (periods < longest) return;
    longest = periods;
    oldest = position;
  });
  if (oldest === undefined) return undefined;

  let first = oldest;
  let last = oldest;
  const joins = (position: number) =>
    position >= 0 &&
    position < calendar.days.length &&
    calendar.sumOf({ first: Math.min(first, position), last: Math.max(last, position) }) <=
      onePage &&
    age(position) >= period(position) / 2;
  for (;;) {
    if (joins(first - 1)) first -= 1;
    else if (joins(last + 1)) last += 1;
    else return { first, last };
  }
}

/** When the first day of the recent window, and the first of all others, is due to be read again. */
export function auditsDue(
  calendar: Calendar,
  recent: number,
  periods: AuditPeriods,
): { readonly recentAt: number; readonly historyAt: number } {
  const oldest = ({ first, last }: Span) =>
    calendar
      .daysOf({ first, last })
      .reduce((least, day) => Math.min(least, calendar.entry(day).readAt), notSoon);
  return {
    recentAt: oldest({ first: recent, last: calendar.days.length - 1 }) + periods.recentMs,
    historyAt: oldest({ first: 0, last: recent - 1 }) + periods.historyMs,
  };
}
