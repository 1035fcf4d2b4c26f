import type { Temporal } from 'temporal-polyfill';
import type { Sighting } from '../detection/compare.ts';
import type { PlannedRange, RangeProgress } from '../ports/planned-range.ts';
import type { Lease } from '../ports/state.ts';
import type { TickParts } from '../tick/parts.ts';

/** The fan-out's own items in the ledger. */
export interface FanOutLedger {
  /**
   * The first plan that was saved. It never changes, so that a later execution finds the ranges
   * that are done.
   */
  plan(begunAt: number): Promise<readonly PlannedRange[] | undefined>;
  /** @returns the plan that holds: another execution's, if that one was first */
  keepPlan(begunAt: number, ranges: readonly PlannedRange[]): Promise<readonly PlannedRange[]>;
  /** @returns the progress of each range, in the same order */
  progressOf(ranges: readonly PlannedRange[]): Promise<readonly RangeProgress[]>;
  /**
   * Takes the lease of a range.
   *
   * @returns how far it has been read, or `undefined` while another task's lease lasts
   */
  takeRange(
    range: PlannedRange,
    lease: Lease,
    now: Temporal.Instant,
  ): Promise<RangeProgress | undefined>;
  /** @returns `false` when the lease had been lost: then nothing was written. */
  keepProgress(range: PlannedRange, lease: Lease, progress: RangeProgress): Promise<boolean>;
  giveBackRange(range: PlannedRange, lease: Lease): Promise<void>;
  /**
   * Records certifications that the ledger lacks, without announcing them. One that a tick has
   * committed since the look-up stays as it is, with its outbox.
   *
   * @returns those that were recorded
   */
  recordNew(sightings: readonly Sighting[], now: Temporal.Instant): Promise<readonly Sighting[]>;
}

/** The parts of a fan-out's tasks. They announce nothing and send no notices. */
export interface FanOutParts
  extends Pick<TickParts, 'settings' | 'clock' | 'partner' | 'ledger' | 'journal'> {
  readonly fanOut: FanOutLedger;
}
