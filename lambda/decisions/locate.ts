import type { Temporal } from 'temporal-polyfill';
import type { Calendar, CalendarRange } from './calendar.ts';

const oneMinuteMs = 60_000;
/** After this many minutes, a search is repeated once an hour. */
const hourlyAfter = 64;
/** A range of up to this many rows takes one request to read, so it is not narrowed further. */
export const rowsOfOnePage = 99;
/**
 * A range with more certifications in the ledger is narrowed further, so that no read looks up more
 * of them.
 */
export const mostKnown = 1_000;

/**
 * `count`: asks for the partner's count of the range. `read`: the range differs, so it must be
 * read.
 */
export interface SearchStep {
  readonly kind: 'count' | 'read';
  readonly range: CalendarRange;
  /** The range that is known to differ and that this step narrows. */
  readonly within?: CalendarRange;
}

/** Days for which the partner's count differs from the calendar's. */
interface Differing {
  readonly range: CalendarRange;
  readonly count: number;
  /** Its days with missing certifications were read, and it differs all the same. */
  readonly isRead?: true;
}

/**
 * A `count` is answered with the partner's count of the range, a `read` with the calendar's count
 * after it.
 */
export type Search = Generator<SearchStep, void, number>;

/**
 * Finds the days on which the partner's count differs from the calendar's, by bisection.
 *
 * This generator asks, is answered, and names ranges to read as it finds them, the most recent
 * first. A range's count minus that of one half is the other half's, so each level costs one
 * question. A record backdated ten years takes about twelve. Recent days are asked about first,
 * because that is where most changes are.
 *
 * Counts are asked for at different moments. A change in between can send the search to a day where
 * nothing differs, or hide a difference until the next time. It cannot make a read wrong.
 *
 * @param total the partner's count of all days
 * @param recent position of the recent window's first day
 */
export function* locate(calendar: Calendar, total: number, recent: number): Search {
  const all = { range: { first: 0, last: calendar.days.length - 1 }, count: total };
  if (recent === 0) return yield* narrow(calendar, [all]);
  const later = { first: recent, last: all.range.last };
  const inLater = yield { kind: 'count', range: later };
  yield* narrow(calendar, [
    { range: { first: 0, last: recent - 1 }, count: total - inLater },
    { range: later, count: inLater },
  ]);
}

/**
 * Resumes a search among the days where its time ran out. They did differ then, so a range that is
 * small enough is read even if the counts agree by now: one may have come for one that went.
 */
export function* locateWithin(calendar: Calendar, range: CalendarRange): Search {
  const count = yield { kind: 'count', range, within: range };
  if (isReadable(calendar, { range, count })) yield { kind: 'read', range, within: range };
  else yield* narrow(calendar, [{ range, count }]);
}

/** Depth first; the last range first, and its more recent half first. */
function* narrow(calendar: Calendar, counted: readonly Differing[]): Search {
  const differs = ({ range, count }: Differing) =>
    range.first <= range.last && count !== calendar.sumOf(range);
  const differing = counted.filter(differs);
  for (let next = differing.pop(); next !== undefined; next = differing.pop()) {
    const { range, count } = next;
    if (isReadable(calendar, next)) {
      yield { kind: 'read', range, within: range };
      continue;
    }
    if (!next.isRead && count === calendar.knownOf(range)) {
      const now = yield* readMissing(calendar, range);
      if (now !== count) differing.push({ ...next, isRead: true });
      continue;
    }
    const middle = Math.ceil((range.first + range.last) / 2);
    const later = { first: middle, last: range.last };
    const inLater = yield { kind: 'count', range: later, within: range };
    const halves = [
      { range: { first: range.first, last: middle - 1 }, count: count - inLater },
      { range: later, count: inLater },
    ];
    differing.push(...halves.filter(differs));
  }
}

/**
 * As many certifications have come as were missing: these are back, as after an outage. So the days
 * on which they were missing are read, a page's worth at a time, and no more counts are asked for.
 *
 * @returns the calendar's count of the range after these reads
 */
function* readMissing(
  calendar: Calendar,
  range: CalendarRange,
): Generator<SearchStep, number, number> {
  let now = calendar.sumOf(range);
  for (let { last } = range; last >= range.first; ) {
    let page: CalendarRange = { first: last, last };
    for (; page.first > range.first; page = { first: page.first - 1, last })
      if (calendar.knownOf({ first: page.first - 1, last }) > rowsOfOnePage) break;
    if (calendar.knownOf(page) > calendar.sumOf(page))
      now += (yield { kind: 'read', range: page, within: page }) - calendar.sumOf(page);
    last = page.first - 1;
  }
  return now;
}

/** Whether the range needs no more narrowing. */
function isReadable(calendar: Calendar, { range, count }: Differing): boolean {
  const isSmall = count <= rowsOfOnePage && calendar.knownOf(range) <= mostKnown;
  return range.first === range.last || isSmall;
}

/** By how much the partner's total differs although no day does, and since when by this number. */
interface Unexplained {
  readonly unexplained: number;
  readonly unexplainedSince?: number | undefined;
}

/**
 * The state's facts after a search. An unfinished search leaves the number as it was. Another
 * number is dated anew: a total that jumps for a moment must not be believed by the date of an
 * older lie.
 */
export function unexplainedAfter(
  { unexplained: before, unexplainedSince = Number.POSITIVE_INFINITY }: Unexplained,
  found: number | undefined,
  nowMs: number,
): Required<Unexplained> {
  const unexplained = found ?? before;
  const since = unexplained === before ? Math.min(unexplainedSince, nowMs) : nowMs;
  return { unexplained, unexplainedSince: unexplained === 0 ? undefined : since };
}

/** The number that is believed: 0 while it may be the passing answer of a replica or a cache. */
export function believed(
  { unexplained, unexplainedSince }: Unexplained,
  withdrawAfterMs: number,
  nowMs: number,
): number {
  const isLasting = unexplainedSince !== undefined && nowMs - unexplainedSince >= withdrawAfterMs;
  return isLasting ? unexplained : 0;
}

/**
 * A total that no day explains is searched for again after 1, 2, 4 … 64 minutes, and then every
 * hour: a replica may have answered for the days.
 *
 * @param lookedAt when a tick last looked
 */
export function isSearchedAgain(since: number, lookedAt: number, nowMs: number): boolean {
  const searches = (at: number) => {
    const minutes = Math.max(0.5, (at - since) / oneMinuteMs);
    return Math.floor(minutes < hourlyAfter ? Math.log2(minutes) : 5 + minutes / 60);
  };
  return searches(nowMs) > searches(lookedAt);
}

export interface AtWork {
  readonly heartbeat?: string | undefined;
  readonly dirtySince?: Temporal.Instant | undefined;
}

/**
 * Whether another tick worked between this one's first look at the state and its lease. The pulse
 * may then be older than that tick's commits.
 */
export function isPulseOutdated(before: AtWork, leased: AtWork): boolean {
  return leased.heartbeat !== before.heartbeat || leased.dirtySince !== undefined;
}
