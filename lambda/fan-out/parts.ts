import type { Temporal } from 'temporal-polyfill';
import type { Sighting } from '../detection/compare.ts';
import type { Announcer } from '../ports/announcer.ts';
import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Lease } from '../ports/state.ts';
import type { Stretch, StretchProgress } from '../ports/stretch.ts';
import type { TickParts, TickSettings } from '../tick/parts.ts';

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
