import type { Calendar, CalendarRange, DayEntry } from './calendar.ts';
import { mostKnown, rowsOfOnePage } from './locate.ts';

const oneMinuteMs = 60_000;
/** The year 2255: for a calendar without days, and the longest wait after failures. */
const notSoon = 9e12;

/**
 * Why days are read: a read was asked for; they are due soon by themselves; the history's audits
 * have their turn.
 */
export type Kind = 'asked' | 'soon' | 'audit';

/** A day that is to be read for a look, and when: milliseconds since the epoch. */
export interface DueLook {
  readonly day: string;
  readonly at: number;
}

/** The setting `audit`. Durations are in milliseconds. */
export interface AuditSettings {
  /** Within this time, each day of the recent window is read again. */
  readonly recentMs: number;
  /** Within this time, each other day is. */
  readonly historyMs: number;
  /** Requests of one tick's audits. */
  readonly requests: number;
}

/** How audits go through the days of the history, at this many requests a minute on average. */
export interface AuditPlan extends AuditSettings {
  readonly perMinute: number;
  /** First day of the recent window. */
  readonly recentFrom: string;
}

type DueSettings = Pick<AuditPlan, 'recentFrom' | 'recentMs' | 'historyMs'>;

/** Due at `at`; from then on, the wait is counted in periods. */
interface Wait {
  readonly at: number;
  readonly periodMs: number;
}

/**
 * The one place that knows when a day is due, requests to read apart. Soon: its turn in the recent
 * window; 1, 2, 4 … minutes after failed reads in a row; the time until which an older answer may
 * have hidden a change.
 */
function waitsOf(
  kind: Exclude<Kind, 'asked'>,
  [day, { readAt, failures = 0, dueAt }]: readonly [day: string, entry: DayEntry],
  { recentFrom, recentMs, historyMs }: DueSettings,
): readonly Wait[] {
  const after = (periodMs: number): Wait => ({ at: readAt + periodMs, periodMs });
  const isRecent = day >= recentFrom;
  if (kind === 'audit') return isRecent ? [] : [after(historyMs)];
  return [
    ...(isRecent ? [after(recentMs)] : []),
    ...(failures > 0 ? [after(Math.min(notSoon, 2 ** (failures - 1) * oneMinuteMs))] : []),
    ...(dueAt === undefined ? [] : [{ at: dueAt, periodMs: oneMinuteMs }]),
  ];
}

/**
 * How long each day of the calendar has waited to be read, in its own periods: from 1 on it is due.
 * Of requests to read, the latest comes first: a difference that a search has located does not wait
 * for all requests of ops.
 *
 * @param looks days to be read for a look, and when; their period is `withdrawAfter`
 */
export function waited(
  kind: Kind,
  calendar: Calendar,
  settings: DueSettings & { readonly withdrawAfterMs: number },
  nowMs: number,
  looks: readonly DueLook[] = [],
): readonly number[] {
  if (kind === 'asked') return calendar.days.map((day) => calendar.entry(day).askedAt ?? 0);
  const periodMs = settings.withdrawAfterMs;
  const due = looks.filter(({ at }) => at <= nowMs);
  const lookedFor = Map.groupBy(due, ({ day }) => calendar.positionOf(day));
  return calendar.days.map((day, position) => {
    const ofLooks = lookedFor.get(position)?.map(({ at }) => ({ at, periodMs })) ?? [];
    const waits = [...waitsOf(kind, [day, calendar.entry(day)], settings), ...ofLooks];
    return Math.max(0, ...waits.map(({ at, periodMs }) => 1 + (nowMs - at) / periodMs));
  });
}

interface Learned {
  readonly expected: number;
  readonly dueAt: number;
  readonly auditsFrom: number;
  readonly unread: number | undefined;
}

/**
 * The calendar's facts for the state: the expected total, and when the next tick must read days
 * even if nothing differs, in milliseconds since the epoch.
 *
 * @param auditsFrom no audit of the history before then: earlier audits have spent their requests
 */
export function calendarLearned(
  calendar: Calendar,
  plan: DueSettings,
  auditsFrom: number,
): Learned {
  let dueAt = notSoon;
  for (const day of calendar.days) {
    const entry = calendar.entry(day);
    const times = [
      ...waitsOf('soon', [day, entry], plan).map(({ at }) => at),
      ...waitsOf('audit', [day, entry], plan).map(({ at }) => Math.max(at, auditsFrom)),
    ];
    dueAt = Math.min(dueAt, entry.askedAt ?? notSoon, ...times);
  }
  const unread = calendar.unread.days.length || undefined;
  return { expected: calendar.total, dueAt, auditsFrom, unread };
}

/**
 * The next days to read: those that have waited for the most of their periods, and neighbours that
 * fit into the same page and have waited for half a period. So where there is more to read than
 * there is time for, all wait for the same number of periods, and none for ever.
 *
 * @param waited how long each day has waited, in periods
 * @returns `undefined` if nothing is due
 */
export function nextDue(calendar: Calendar, waited: readonly number[]): CalendarRange | undefined {
  const waitOf = (position: number) => waited[position] ?? 0;
  const longest = waited.reduce(
    (so, wait, position) => (wait >= 1 && wait > waitOf(so) ? position : so),
    -1,
  );
  if (longest < 0) return undefined;
  let range = { first: longest, last: longest };
  for (;;) {
    const { first, last } = range;
    const next = [
      { first: first - 1, last },
      { first, last: last + 1 },
    ].find((wider) => {
      const isWaiting = waitOf(wider.first) >= 0.5 && waitOf(wider.last) >= 0.5;
      return isWaiting && mayShareRead(calendar, wider);
    });
    if (next === undefined) return range;
    range = next;
  }
}

/** Few enough for one page, and no more than the `together` of each day. */
function mayShareRead(calendar: Calendar, range: CalendarRange): boolean {
  const days = calendar.daysOf(range);
  return (
    calendar.sumOf(range) <= rowsOfOnePage &&
    calendar.knownOf(range) <= mostKnown &&
    days.every((day) => (calendar.entry(day).together ?? days.length) >= days.length)
  );
}

/**
 * Requests a minute that audits of the history take on average, unless a pass within `historyMs`
 * needs more.
 */
const auditsPerMinute = 2;
/** A history that a few requests read is not read more often than this. */
const leastPassMs = 15 * oneMinuteMs;
/** Rows that each further page of a day adds: it overlaps with the page before. */
const rowsOfNextPage = 90;

/**
 * Audits of the history are saved up and spent together: two requests a minute on average, or as
 * many as a pass within `historyMs` needs, up to `requests` a tick.
 *
 * @param ofPass requests that one reading of the history takes
 */
export function auditPlan(
  ofPass: number,
  recentFrom: string,
  { recentMs, historyMs, requests }: AuditSettings,
): AuditPlan {
  const needed = (ofPass * oneMinuteMs) / historyMs;
  const perMinute = Math.min(requests, Math.max(auditsPerMinute, needed));
  // Days are due earlier by the time in which the requests are saved up, so there is always
  // something to spend them on.
  const passMs = perMinute > 0 ? ((ofPass - requests) / perMinute) * oneMinuteMs : historyMs;
  const least = Math.min(leastPassMs, historyMs);
  return {
    recentFrom,
    recentMs,
    requests,
    perMinute,
    historyMs: Math.max(least, Math.min(historyMs, passMs)),
  };
}

export function auditPlanOf(
  calendar: Calendar,
  recentFrom: string,
  settings: AuditSettings,
): AuditPlan {
  return auditPlan(requestsOf(calendar, recentFrom), recentFrom, settings);
}

/** The requests that one reading of the history takes, with neighbours together. */
export function requestsOf(calendar: Calendar, recentFrom: string): number {
  let requests = 0;
  let rows = 0;
  for (const day of calendar.days.filter((one) => one < recentFrom)) {
    const { count } = calendar.entry(day);
    if (count > rowsOfOnePage) requests += Math.ceil(count / rowsOfNextPage);
    else if (rows + count > rowsOfOnePage) {
      requests += 1;
      rows = count;
    } else rows += count;
  }
  return requests + Math.sign(rows);
}

/** Until when audits of the history wait after they have spent this many requests. */
export function savedUntil(
  spent: number,
  { requests, perMinute }: AuditPlan,
  nowMs: number,
): number {
  return nowMs + (Math.max(spent, requests) / perMinute) * oneMinuteMs;
}
