import type { Calendar, Span } from './calendar.ts';
import { rowsOfOnePage } from './locate.ts';

export interface AuditPeriods {
  /** Within which every day of the recent window is read again, in milliseconds. */
  readonly recentMs: number;
  /** Within which every other day is. */
  readonly historyMs: number;
}

/** For what has no days: the year 2255. */
const notSoon = 9e12;

/**
 * The next days to prove again: those with the oldest read that is due, of the recent window before
 * all others, and neighbours that fit into the same page and have not been read since half their period.
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

  const oldestOf = ({ first, last }: Span): number | undefined => {
    let oldest: number | undefined;
    for (let position = first; position <= last; position++)
      if (
        age(position) >= period(position) &&
        age(position) > (oldest === undefined ? 0 : age(oldest))
      )
        oldest = position;
    return oldest;
  };
  // A history that is behind, after an outage, does not keep the recent window from its own period.
  const oldest =
    oldestOf({ first: recent, last: calendar.days.length - 1 }) ??
    oldestOf({ first: 0, last: recent - 1 });
  if (oldest === undefined) return undefined;

  let first = oldest;
  let last = oldest;
  const joins = (position: number) =>
    position >= 0 &&
    position < calendar.days.length &&
    calendar.sumOf({ first: Math.min(first, position), last: Math.max(last, position) }) <=
      rowsOfOnePage &&
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
