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

/** Why days are read: they were asked for; they are due soon whatever else is; everything is, in its turn. */
export type Kind = 'asked' | 'soon' | 'audit';

interface DueSettings extends AuditPeriods {
  /** First day of the recent window. */
  readonly recentFrom: string;
}

/** Days that are to be read for what they lack, and when. */
type Looks = readonly { readonly day: string; readonly at: number }[];

interface Wait {
  readonly since: number;
  /** After so long it is due, and after as long again for two of its periods. */
  readonly periodMs: number;
}

/**
 * What a day waits for, save what was asked for: the one place that knows when it is due. Soon: its turn in the recent
 * window; after reads in a row that left something, 1, 2, 4 … minutes; what an older answer may have hidden.
 */
function waitsOf(
  kind: Exclude<Kind, 'asked'>,
  [day, { readAt, failures = 0, dueAt }]: readonly [day: string, entry: DayEntry],
  { recentFrom, recentMs, historyMs }: DueSettings,
): readonly Wait[] {
  const isRecent = day >= recentFrom;
  if (kind === 'audit') return isRecent ? [] : [{ since: readAt, periodMs: historyMs }];
  return [
    ...(isRecent ? [{ since: readAt, periodMs: recentMs }] : []),
    ...(failures > 0 ? [{ since: readAt, periodMs: 2 ** (failures - 1) * oneMinuteMs }] : []),
    ...(dueAt === undefined ? [] : [{ since: dueAt - oneMinuteMs, periodMs: oneMinuteMs }]),
  ];
}

/**
 * How long each day of the calendar has waited to be read, in periods of its own: from 1 on it is due. What was asked
 * for comes the last first: what a search has located does not wait for all that ops have asked for.
 *
 * @param looks second looks, if this is for them: they wait as long again as lies between two
 */
export function waited(
  kind: Kind,
  calendar: Calendar,
  settings: DueSettings & { readonly withdrawAfterMs: number },
  nowMs: number,
  looks: Looks = [],
): readonly number[] {
  if (kind === 'asked') return calendar.days.map((day) => calendar.entry(day).askedAt ?? 0);
  const periodMs = settings.withdrawAfterMs;
  const lookedFor = new Map(
    looks
      .filter(({ at }) => at <= nowMs)
      .map(({ day, at }) => [calendar.positionOf(day), [{ since: at - periodMs, periodMs }]]),
  );
  return calendar.days.map((day, position) => {
    const waits = waitsOf(kind, [day, calendar.entry(day)], settings);
    return [...waits, ...(lookedFor.get(position) ?? [])].reduce(
      (longest, { since, periodMs }) => Math.max(longest, (nowMs - since) / periodMs),
      0,
    );
  });
}

/**
 * When the next tick is to read days again, if nothing differs: milliseconds since the epoch.
 *
 * @param auditsFrom before that, no audit of the history: earlier ones have spent what they may
 */
export function nextReadAt(calendar: Calendar, settings: DueSettings, auditsFrom: number): number {
  let least = notSoon;
  for (const day of calendar.days) {
    const entry = calendar.entry(day);
    const end = ({ since, periodMs }: Wait) => since + periodMs;
    const audits = waitsOf('audit', [day, entry], settings).map(end);
    least = Math.min(
      least,
      entry.askedAt ?? notSoon,
      ...waitsOf('soon', [day, entry], settings).map(end),
      ...audits.map((at) => Math.max(at, auditsFrom)),
    );
  }
  return least;
}

/**
 * The next days to read: those that are due for the most of their periods, and neighbours that fit into
 * the same page and have not been read since half their period. So where there is more to read than there
 * is time for, all wait for the same number of periods, and none for ever.
 *
 * @param waited how long each day has
 * @returns `undefined` when nothing is due
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
    const wider = [
      { joined: first - 1, range: { first: first - 1, last } },
      { joined: last + 1, range: { first, last: last + 1 } },
    ];
    const next = wider.find(
      ({ joined, range }) => waitOf(joined) >= 0.5 && mayShareRead(calendar, range),
    );
    if (next === undefined) return range;
    ({ range } = next);
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

export function auditPace(
  calendar: Calendar,
  recentFrom: string,
  settings: AuditSettings,
): AuditPace {
  return paceOf(requestsOf(calendar, recentFrom), settings);
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

/** What it takes to read the history once, neighbours together. */
function requestsOf(calendar: Calendar, recentFrom: string): number {
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

/** Until when audits of the history wait, when they have spent so many requests. */
export function savedUntil(
  spent: number,
  { perMinute }: AuditPace,
  settings: AuditSettings,
  nowMs: number,
): number {
  return nowMs + (Math.max(spent, settings.requests) / perMinute) * oneMinuteMs;
}
