const oneMinuteMs = 60_000;
/** After so many minutes a search is repeated once an hour. */
const hourlyAfter = 64;

/** By how much the partner's total differs although no day does. Times are milliseconds since the epoch. */
export interface Unexplained {
  readonly unexplained: number;
  /** Since when it differs by as much. */
  readonly unexplainedSince?: number | undefined;
}

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
