import type { Temporal } from 'temporal-polyfill';
import type { Sighting } from '../detection/compare.ts';
import type { Announcer } from '../ports/announcer.ts';
import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Baseline, Lease } from '../ports/state.ts';
import type { TickParts, TickSettings } from '../tick/parts.ts';

/** Days of the history that one task reads, slice by slice: about so many assessments as all others. */
export interface Stretch {
  /** Of the baseline that it belongs to: one that was restarted is read anew. */
  readonly begunAt: number;
  readonly from: Temporal.PlainDate;
  readonly to: Temporal.PlainDate;
  /** What is dated before `from` belongs to it as well. */
  readonly isOldest?: true;
  /** Days that its first slice should have. */
  readonly sliceDays: number;
}

/** How far a stretch has been read. No two stretches share a day. */
export interface StretchProgress extends Pick<Baseline, 'before' | 'sliceDays' | 'bookmark'> {
  readonly isDone: boolean;
  /** Certifications that its tasks have recorded. */
  readonly recorded: number;
}

/** What the fan-out keeps in the ledger for itself. */
export interface FanOutLedger {
  /** The plan that was kept first: it never changes, so that a later execution finds what is done. */
  plan(begunAt: number): Promise<readonly Stretch[] | undefined>;
  /** @returns the plan that holds: another execution's, if that one was first */
  keepPlan(begunAt: number, stretches: readonly Stretch[]): Promise<readonly Stretch[]>;
  /** Of each of these stretches, in the same order. */
  progressOf(stretches: readonly Stretch[]): Promise<readonly StretchProgress[]>;
  /**
   * Makes a stretch this task's own.
   * @returns how far it has been read, or `undefined` while another task's lease lasts
   */
  takeStretch(
    stretch: Stretch,
    lease: Lease,
    now: Temporal.Instant,
  ): Promise<StretchProgress | undefined>;
  /** @returns `false` when the lease had been lost: then nothing was written. */
  keepProgress(stretch: Stretch, lease: Lease, progress: StretchProgress): Promise<boolean>;
  giveBackStretch(stretch: Stretch, lease: Lease): Promise<void>;
  /**
   * Records certifications that nobody knows, without announcing them. One that a tick has committed
   * since it was looked up is left as it is, its outbox included.
   * @returns those that were recorded
   */
  recordNew(sightings: readonly Sighting[], now: Temporal.Instant): Promise<readonly Sighting[]>;
}

/** What the tasks of a fan-out work with. They announce nothing: they only tell operations at the end. */
export interface FanOutParts {
  readonly settings: Pick<TickSettings, 'name' | 'timeZone' | 'recentDays' | 'audit'> & {
    readonly requestsPerMinute: number;
  };
  readonly clock: TickParts['clock'];
  readonly partner: TickParts['partner'];
  readonly ledger: Pick<
    Ledger,
    | 'recordedState'
    | 'state'
    | 'saveState'
    | 'takeLease'
    | 'giveBackLease'
    | 'complete'
    | 'known'
    | 'calendar'
    | 'saveDays'
    | 'addYears'
    | 'addToDays'
  >;
  readonly fanOut: FanOutLedger;
  readonly announcer: Pick<Announcer, 'notify'>;
  readonly journal: Journal;
}

export interface TaskRun {
  /** Unique; becomes the owner of a lease. */
  readonly id: string;
  /** When the invocation is killed. */
  readonly deadline: Temporal.Instant;
}
