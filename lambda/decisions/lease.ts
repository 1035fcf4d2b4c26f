import type { Temporal } from 'temporal-polyfill';
import type { State } from './state.ts';

/** How far the clock of the holder may be ahead of the reader's. */
export const leaseAheadMs = 60_000;
/** No function runs for longer than 900 s; with the slack of its lease. */
export const longestLeaseMs = 905_000;
/** A tick that had a doubted lease has ended by then. */
export const doubtedForMs = 65_000;

/**
 * How the lease of another owner looks to a reader. Clocks differ, and two holders at once are
 * harmless: each write on which they could disagree has a condition.
 *
 * - `over`: there is none, it has ended, or it was doubted for long enough.
 * - `held`: it is believed until its end, for 905 s at most.
 * - `doubted`: it was taken in the future, by the reader's clock. The reader notes its own time
 * beside it (`leaseDoubtedAt`), once for each holder.
 */
export function leaseSeen(
  { leaseTakenAt, leaseUntil, leaseDoubtedAt }: Partial<State>,
  now: Temporal.Instant,
): 'over' | 'held' | 'doubted' {
  if (leaseUntil === undefined) return 'over';
  const msUntil = (at: Temporal.Instant) => now.until(at).total('milliseconds');
  const takenIn = msUntil(leaseTakenAt ?? now);
  const isOver =
    msUntil(leaseUntil) < 0 ||
    takenIn < -longestLeaseMs ||
    (leaseDoubtedAt !== undefined && msUntil(leaseDoubtedAt) <= -doubtedForMs);
  if (isOver) return 'over';
  // Earlier versions did not note when it was taken.
  return takenIn > leaseAheadMs || msUntil(leaseUntil) > leaseAheadMs + longestLeaseMs
    ? 'doubted'
    : 'held';
}
