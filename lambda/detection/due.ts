import type { Calendar, CalendarRange, DayEntry } from './calendar.ts';
import { mostKnown, rowsOfOnePage } from './locate.ts';

export interface AuditPeriods {
  /** Within which every day of the recent window is read again, in milliseconds. */
  readonly recentMs: number;
  /** Within which every other day is. */
  readonly historyMs: number;
}

const oneMinuteMs = 60_000;
/** For what has no days: the year 2255. */
const notSoon = 9e12;

/** How long the day at a position has waited to be read, in periods of its own: from 1 on it is due. */
export type Waited = (position: number) => number;

/** After reads in a row that left something: 1, 2, 4 … minutes, until its audit comes before that. */
function retryAfterMs({ failures = 0 }: DayEntry): number {
  return failures === 0 ? notSoon : Math.min(2 ** (failures - 1) * oneMinuteMs, notSoon);
}

/** When a day is to be read again, whatever else happens: milliseconds since the epoch. */
function dueAtOf(entry: DayEntry, periodMs: number): number {
  const { readAt, askedAt, dueAt = notSoon } = entry;
  if (askedAt !== undefined) return askedAt;
  return Math.min(readAt + periodMs, readAt + retryAfterMs(entry), dueAt);
}

/** What was asked for, the last first: what a search has located does not wait for all that ops have asked for. */
export function waitedAsked(calendar: Calendar): Waited {
  return (position) => calendar.at(position).askedAt ?? 0;
}

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

/**
 * What is read again whatever else is: the recent window, what a read has left, what an older answer may have hidden.
 *
 * @param recent position of the recent window's first day
 */
export function waitedSoon(
  calendar: Calendar,
  recent: number,
  nowMs: number,
  { recentMs }: Pick<AuditPeriods, 'recentMs'>,
): Waited {
  return (position) => {
    const entry = calendar.at(position);
    const { readAt, dueAt = notSoon } = entry;
    const period = position >= recent ? recentMs : notSoon;
    const retry = (nowMs - readAt) / retryAfterMs(entry);
    return Math.max((nowMs - readAt) / period, retry, nowMs >= dueAt ? 1 : 0);
  };
}

/** Every other day. */
export function waitedForAudit(
  calendar: Calendar,
  recent: number,
  nowMs: number,
  { historyMs }: Pick<AuditPeriods, 'historyMs'>,
): Waited {
  return (position) => (position < recent ? (nowMs - calendar.at(position).readAt) / historyMs : 0);
}

/**
 * The next days to read: those that are due for the most of their periods, and neighbours that fit into
 * the same page and have not been read since half their period. So where there is more to read than there
 * is time for, all wait for the same number of periods, and none for ever.
 *
 * @returns `undefined` when nothing is due
 */
export function nextDue(calendar: Calendar, waited: Waited): CalendarRange | undefined {
  let longest: number | undefined;
  for (const position of calendar.days.keys())
    if (waited(position) >= 1 && (longest === undefined || waited(position) > waited(longest)))
      longest = position;
  if (longest === undefined) return undefined;

  let first = longest;
  let last = longest;
  const joins = (position: number) => {
    const range = { first: Math.min(first, position), last: Math.max(last, position) };
    return (
      position >= 0 &&
      position < calendar.days.length &&
      waited(position) >= 0.5 &&
      mayShareRead(calendar, range)
    );
  };
  for (;;) {
    if (joins(first - 1)) first -= 1;
    else if (joins(last + 1)) last += 1;
    else return { first, last };
  }
}

/** Few enough for one page, and for those among them that shared a read which proved nothing. */
function mayShareRead(calendar: Calendar, range: CalendarRange): boolean {
  const { length } = calendar.daysOf(range);
  const isAlone = (day: string) => (calendar.entry(day).together ?? length) < length;
  return (
    calendar.sumOf(range) <= rowsOfOnePage &&
    calendar.knownOf(range) <= mostKnown &&
    !calendar.daysOf(range).some(isAlone)
  );
}

/** Where more is needed, a pass over the history takes so many requests a minute, or it is done within a day. */
const auditsPerMinute = 2;
/** A history that a few requests read is not read more often. */
const leastPassMs = 15 * oneMinuteMs;
/** Rows that a page adds to a day that does not fit into one: it overlaps with the one before. */
const rowsOfNextPage = 90;

export interface AuditSettings extends AuditPeriods {
  /** Requests that the audits of one tick may make. */
  readonly requests: number;
}

/** How audits of a history go round: its days are read within these periods, by so many requests a minute on average. */
export interface AuditPace extends AuditPeriods {
  readonly perMinute: number;
}

/** @param recent position of the recent window's first day */
export function auditPace(calendar: Calendar, recent: number, settings: AuditSettings): AuditPace {
  return paceOf(requestsOf(calendar, { first: 0, last: recent - 1 }), settings);
}

/**
 * Audits of the history are saved up and spent together: two requests a minute on average, or as many as a pass within
 * `historyMs` needs, up to `requests` a tick.
 */
export function paceOf(
  ofPass: number,
  { recentMs, historyMs, requests }: AuditSettings,
): AuditPace {
  const needed = (ofPass * oneMinuteMs) / historyMs;
  const perMinute = Math.min(requests, Math.max(auditsPerMinute, needed));
  // Due as long before as the requests are saved up: so there is always something to spend them on.
  const passMs = perMinute > 0 ? ((ofPass - requests) / perMinute) * oneMinuteMs : historyMs;
  return {
    recentMs,
    historyMs: Math.max(Math.min(leastPassMs, historyMs), Math.min(historyMs, passMs)),
    perMinute,
  };
}

/** What it takes to read these days once, neighbours together. */
function requestsOf(calendar: Calendar, range: CalendarRange): number {
  let requests = 0;
  let rows = 0;
  for (const day of calendar.daysOf(range)) {
    const { count } = calendar.entry(day);
    if (count > rowsOfOnePage) requests += Math.ceil(count / rowsOfNextPage);
    else if (rows + count > rowsOfOnePage) {
      requests += 1;
      rows = count;
    } else rows += count;
  }
  return requests + Math.sign(rows);
}

/** Until when audits of the history wait, when they have spent so many requests. */
export function savedUntil(
  spent: number,
  { perMinute }: AuditPace,
  settings: AuditSettings,
  nowMs: number,
): number {
  return nowMs + (Math.max(spent, settings.requests) / perMinute) * oneMinuteMs;
}

/**
 * When the next tick is to read days again, if nothing differs: milliseconds since the epoch.
 *
 * @param recent position of the recent window's first day
 * @param auditsFrom before that, no audit of the history: earlier ones have spent what they may
 */
export function nextReadAt(
  calendar: Calendar,
  recent: number,
  periods: AuditPeriods,
  auditsFrom: number,
): number {
  const { recentMs, historyMs } = periods;
  return [...calendar.days.keys()].reduce((least, position) => {
    const entry = calendar.at(position);
    if (position >= recent) return Math.min(least, dueAtOf(entry, recentMs));
    const auditAt = Math.max(entry.readAt + historyMs, auditsFrom);
    return Math.min(least, dueAtOf(entry, notSoon), auditAt);
  }, notSoon);
}
