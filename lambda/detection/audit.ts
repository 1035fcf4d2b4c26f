import type { Calendar, Span } from './calendar.ts';
import { mostKnown, rowsOfOnePage } from './locate.ts';

export interface AuditPeriods {
  /** Within which every day of the recent window is read again, in milliseconds. */
  readonly recentMs: number;
  /** Within which every other day is. */
  readonly historyMs: number;
}

/** For what has no days: the year 2255. */
const notSoon = 9e12;

/** How long the day at a position has waited to be read, in periods: from 1 on it is due. */
export type Waited = (position: number) => number;

/** What has waited for a second look: since that was due, in the time that lies between two. */
export function waitedForLook(
  calendar: Calendar,
  due: readonly { readonly day: string; readonly at: number }[],
  nowMs: number,
  withdrawAfterMs: number,
): Waited {
  const waited = new Map(
    due
      .filter(({ at }) => at <= nowMs)
      .map(({ day, at }) => [calendar.positionOf(day), 1 + (nowMs - at) / withdrawAfterMs]),
  );
  return (position) => waited.get(position) ?? 0;
}

/** @param recent position of the recent window's first day */
export function waitedForAudit(
  calendar: Calendar,
  recent: number,
  nowMs: number,
  periods: AuditPeriods,
): Waited {
  return (position) => {
    const { readAt, dueAt = notSoon } = calendar.at(position);
    const period = position >= recent ? periods.recentMs : periods.historyMs;
    return Math.max((nowMs - readAt) / period, nowMs >= dueAt ? 1 : 0);
  };
}

/**
 * The next days to read: those that are due for the most of their periods, and neighbours that fit into
 * the same page and have not been read since half their period. So where there is more to read than there
 * is time for, all wait for the same number of periods, and none for ever.
 *
 * @returns `undefined` when nothing is due
 */
export function nextDue(calendar: Calendar, waited: Waited): Span | undefined {
  let longest: number | undefined;
  for (const position of calendar.days.keys())
    if (waited(position) >= 1 && (longest === undefined || waited(position) > waited(longest)))
      longest = position;
  if (longest === undefined) return undefined;

  let first = longest;
  let last = longest;
  const joins = (position: number) => {
    const span = { first: Math.min(first, position), last: Math.max(last, position) };
    return (
      position >= 0 &&
      position < calendar.days.length &&
      calendar.sumOf(span) <= rowsOfOnePage &&
      calendar.knownOf(span) <= mostKnown &&
      waited(position) >= 0.5
    );
  };
  for (;;) {
    if (joins(first - 1)) first -= 1;
    else if (joins(last + 1)) last += 1;
    else return { first, last };
  }
}

/** When audits are due; the names are those of `State`. Milliseconds since the epoch. */
export interface AuditTimes {
  /** For the recent window: its day that was read longest ago. */
  readonly recentAuditAt: number;
  /** For all other days. */
  readonly historyAuditAt: number;
}

/** @param recent position of the recent window's first day */
export function auditsDue(calendar: Calendar, recent: number, periods: AuditPeriods): AuditTimes {
  const soonest = (span: Span, periodMs: number) =>
    calendar.daysOf(span).reduce((least, day) => {
      const { readAt, dueAt = notSoon } = calendar.entry(day);
      return Math.min(least, readAt + periodMs, dueAt);
    }, notSoon);
  return {
    recentAuditAt: soonest({ first: recent, last: calendar.days.length - 1 }, periods.recentMs),
    historyAuditAt: soonest({ first: 0, last: recent - 1 }, periods.historyMs),
  };
}

/** Not before `auditsFrom`: earlier audits have taken more requests than they may. */
export function isAuditDue(
  { recentAuditAt, historyAuditAt, auditsFrom }: AuditTimes & { readonly auditsFrom: number },
  nowMs: number,
): boolean {
  return nowMs >= Math.max(auditsFrom, Math.min(recentAuditAt, historyAuditAt));
}

/** By how much audits went over their budget, later ticks save: counted as one a minute. */
export function savedUntil(overspent: number, nowMs: number, requests: number): number {
  const minutes = Math.ceil(overspent / Math.max(1, requests));
  return nowMs + minutes * 60_000;
}
