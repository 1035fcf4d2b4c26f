import type { State } from '../ports/state.ts';
import type { Calendar, CalendarRange } from './calendar.ts';

const oneMinuteMs = 60_000;
/** After so many minutes a search is repeated once an hour. */
const hourlyAfter = 64;
/** Up to this many, a range is one request to read and needs no further question. */
export const rowsOfOnePage = 99;
/** Unless the ledger would have to be searched for more than this: what has gone is looked at in pieces. */
export const mostKnown = 1_000;

/** `count`: to be answered with what the partner counts for the range. `read`: differs, read it. */
export interface Step {
  readonly kind: 'count' | 'read';
  readonly range: CalendarRange;
  /** Known to differ, and narrowed by this step. */
  readonly within?: CalendarRange;
}

/** What the partner counts for these days is not what the calendar has. */
interface Differing {
  readonly range: CalendarRange;
  readonly count: number;
  /** Read where something was missing, and it differs all the same. */
  readonly isRead?: true;
}

/**
 * A `count` is answered with what the partner counts for the range, a `read` with what the calendar has of it by then.
 */
export type Search = Generator<Step, void, number>;

/**
 * Finds the days on which the partner's count differs from the calendar's, by bisection.
 *
 * A generator that asks, is answered, and names what to read as it finds it, the most recent first.
 * A range's count minus that of one half is the other half's, so each level costs one question: a
 * record backdated ten years takes about twelve. Recent days are asked about first, because that is
 * where most changes are.
 *
 * Counts are asked for at different moments. A change in between can send it to a day where nothing
 * differs, or hide a difference until the next time; it cannot make a read wrong.
 *
 * @param total what the partner counts altogether
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
 * The same among these days alone: where an earlier search ran out of time. They did differ then, so what
 * is small enough to be read is read, also if the counts agree by now: one may have come for one that went.
 */
export function* locateWithin(calendar: Calendar, range: CalendarRange): Search {
  const count = yield { kind: 'count', range, within: range };
  if (isReadable(calendar, { range, count })) yield { kind: 'read', range, within: range };
  else yield* narrow(calendar, [{ range, count }]);
}

/** Depth first, the last and the more recent half first. */
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
 * As many have come as were missing: these are back, as after an outage. So the days on which they were missing are
 * read, a page's worth at a time, and nothing more is asked.
 *
 * @returns what the calendar has of the range by then
 */
function* readMissing(calendar: Calendar, range: CalendarRange): Generator<Step, number, number> {
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

/** Without narrowing it down any further. */
function isReadable(calendar: Calendar, { range, count }: Differing): boolean {
  const isSmall = count <= rowsOfOnePage && calendar.knownOf(range) <= mostKnown;
  return range.first === range.last || isSmall;
}

/** By how much the partner's total differs although no day does, and since when by as much. */
type Unexplained = Pick<State, 'unexplained' | 'unexplainedSince'>;

/**
 * What the state keeps after a search; a search that came to no end leaves the number as it was. Another number is
 * dated anew: a total that jumps for a moment must not be believed by the date of an older lie.
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

/** As far as it is believed: not while it may be the passing answer of a replica or a cache. */
export function believed(
  { unexplained, unexplainedSince }: Unexplained,
  withdrawAfterMs: number,
  nowMs: number,
): number {
  const isLasting = unexplainedSince !== undefined && nowMs - unexplainedSince >= withdrawAfterMs;
  return isLasting ? unexplained : 0;
}

/**
 * A total that no day explains is searched for again after 1, 2, 4 … 64 minutes and every hour: a replica may have
 * answered for the days.
 *
 * @param lookedAt when a tick looked last
 */
export function isSearchedAgain(since: number, lookedAt: number, nowMs: number): boolean {
  const searches = (at: number) => {
    const minutes = Math.max(0.5, (at - since) / oneMinuteMs);
    return Math.floor(minutes < hourlyAfter ? Math.log2(minutes) : 5 + minutes / 60);
  };
  return searches(nowMs) > searches(lookedAt);
}

type AtWork = Pick<State, 'heartbeat' | 'dirtySince'>;

/**
 * Another tick was at work between this one's first look at the state and its lease: what the pulse
 * showed may be older than what that tick committed.
 */
export function isPulseOutdated(before: AtWork, leased: AtWork): boolean {
  return leased.heartbeat !== before.heartbeat || leased.dirtySince !== undefined;
}
