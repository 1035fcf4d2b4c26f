import type { Temporal } from 'temporal-polyfill';
import type { Certification, Change } from './detection/compare.ts';
import type { RecentWindow } from './detection/days.ts';
import type { NotifierError } from './errors.ts';
import type { Assessment } from './events/assessment.ts';
import type { CertificationEvent } from './events/event.ts';
import type { OwedEvent } from './events/owed-event.ts';

/** What the tick needs of the partner. */
export interface PartnerReader {
  /**
   * The assessments of the recent window.
   * @throws a `PartnerError` when the partner cannot be asked or does not answer as documented.
   */
  readWindow(window: RecentWindow, deadline: Temporal.Instant): Promise<WindowRead>;
}

export interface WindowRead {
  readonly assessments: readonly Assessment[];
  /** Records that do not have the documented shape; counted and logged, never announced. */
  readonly quarantined: readonly QuarantinedRecord[];
}

export interface QuarantinedRecord {
  readonly id?: number;
  /** Paths and what is wrong with them; no value of the record. */
  readonly problems: readonly string[];
}

/** What one tick knows of an integration before it looks at the partner. */
export interface State {
  /** Key of the fingerprints' hashes. */
  readonly salt: string;
  readonly baselineCompleted: boolean;
  /** A tick that held the lease did not get to its end: some outbox may owe events. */
  readonly dirty: boolean;
  /** Another tick may be at work until then. */
  readonly leasedUntil?: Temporal.Instant;
}

export interface Lease {
  /** Identifies the tick. */
  readonly owner: string;
  readonly until: Temporal.Instant;
}

/** What the tick needs of the ledger. All writes are single-item and conditional. */
export interface Ledger {
  /** One consistent read; the very first call creates the state. */
  state(): Promise<State>;
  /**
   * Takes the lease and marks the state dirty, in one write.
   * @returns the state as it was just before, or `undefined` while another owner's lease lasts.
   */
  takeLease(lease: Lease, now: Temporal.Instant): Promise<State | undefined>;
  /** The heartbeat of a tick that never held the lease. */
  completeQuietly(now: Temporal.Instant): Promise<void>;
  /**
   * Heartbeat, and the lease given back. `dirty` stays when something is still owed.
   * @returns `false` when the lease had been lost: then nothing was written.
   */
  complete(lease: Lease, now: Temporal.Instant, end: TickEnd): Promise<boolean>;
  /** The end of a tick that failed: the lease given back, `dirty` kept, no heartbeat. */
  giveBackLease(lease: Lease): Promise<void>;
  /** What is known of these assessments, by id. */
  known(ids: readonly number[]): Promise<ReadonlyMap<number, Certification>>;
  /** Records new certifications that are not announced. Needs the lease: its writes are unconditional. */
  recordSilently(changes: readonly Change[], now: Temporal.Instant): Promise<void>;
  /**
   * One write: the certification's new state and its event in the outbox.
   * @returns what is owed now, or `undefined` when another tick has committed this revision first.
   */
  commit(
    change: Change,
    event: CertificationEvent,
    now: Temporal.Instant,
  ): Promise<OwedEvent | undefined>;
  /** Everything owed, oldest first, in batches. An item that cannot be read does not hide the others. */
  leftovers(): AsyncIterable<Leftovers>;
  /** Takes delivered events out of their outboxes, or notes that only the digest is still owed. */
  settle(delivered: readonly OwedEvent[], rest: 'nothing' | 'digest'): Promise<void>;
}

export interface Leftovers {
  readonly owed: readonly OwedEvent[];
  readonly unreadable: readonly NotifierError[];
}

export interface TickEnd {
  /** Nothing is left in any outbox that this tick knows of. */
  readonly allDelivered: boolean;
  readonly baselineCompleted: boolean;
}

/** What the tick needs of SNS. Refusals are answers, not exceptions. */
export interface Announcer {
  /** To the machines. Answers which events SNS has accepted, and why it refused the others. */
  publish(owed: readonly OwedEvent[]): Promise<PublishOutcome>;
  /** To the people: one digest of these events. */
  sendDigest(owed: readonly OwedEvent[]): Promise<DigestOutcome>;
}

export interface PublishOutcome {
  readonly accepted: readonly OwedEvent[];
  readonly refused: readonly Refusal[];
}

export interface Refusal {
  readonly owed: OwedEvent;
  /** SNS's error code, or the name of what kept the request from being answered. */
  readonly code: string;
}

export type DigestOutcome =
  | { readonly accepted: true }
  | { readonly accepted: false; code: string };
