import type { Temporal } from 'temporal-polyfill';
import type { Sighting } from '../detection/compare.ts';
import type { PlannedRange, RangeProgress } from '../ports/planned-range.ts';
import type { Lease } from '../ports/state.ts';
import type { TickParts } from '../tick/parts.ts';

/** What the fan-out keeps in the ledger for itself. */
export interface FanOutLedger {
  /** The plan that was kept first: it never changes, so that a later execution finds what is done. */
  plan(begunAt: number): Promise<readonly PlannedRange[] | undefined>;
  /** @returns the plan that holds: another execution's, if that one was first */
  keepPlan(begunAt: number, ranges: readonly PlannedRange[]): Promise<readonly PlannedRange[]>;
  /** Of each of these ranges, in the same order. */
  progressOf(ranges: readonly PlannedRange[]): Promise<readonly RangeProgress[]>;
  /**
   * Makes a range this task's own.
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
   * Records certifications that nobody knows, without announcing them. One that a tick has committed
   * since it was looked up is left as it is, its outbox included.
   * @returns those that were recorded
   */
  recordNew(sightings: readonly Sighting[], now: Temporal.Instant): Promise<readonly Sighting[]>;
}

/** What the tasks of a fan-out work with. They tell nobody anything. */
export interface FanOutParts
  extends Pick<TickParts, 'settings' | 'clock' | 'partner' | 'ledger' | 'journal'> {
  readonly fanOut: FanOutLedger;
}
