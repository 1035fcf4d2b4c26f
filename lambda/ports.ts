import type { Temporal } from 'temporal-polyfill';
import type { DayEntry, Proof } from './detection/calendar.ts';
import type { Certification, Change, Found, Presence, Sighting } from './detection/compare.ts';
import type { ConditionName, OpenCondition, OpenConditions } from './detection/conditions.ts';
import type { DayTally } from './detection/day-tally.ts';
import type { DayRange } from './detection/days.ts';
import type { Pulse } from './detection/pulse.ts';
import type { AcceptedTotal } from './detection/total.ts';
import type { NotifierError } from './errors.ts';
import type { Assessment } from './events/assessment.ts';
import type { CertificationEvent } from './events/event.ts';
import type { OwedEvent } from './events/owed-event.ts';

/**
 * What the tick needs of the partner.
 *
 * @throws PartnerError (every method; TimedOutError with the phase `deadline` when the given one cut it
 * off), or what the source of the credentials throws (CredentialsNotSetError, CredentialsMalformedError,
 * SecretUnreadableError)
 */
export interface PartnerReader {
  /** The newest page, unfiltered: one request. */
  pulse(deadline: Temporal.Instant): Promise<PulseRead>;
  /**
   * The other end of the newest day: the last page in ascending order. Where ties follow the id, it
   * has what is new on a day of more than a page. One request.
   */
  tail(pulse: PulseRead, deadline: Temporal.Instant): Promise<PulseRead>;
  /** How many assessments the partner counts for these days: one request. */
  count(range: DayRange, deadline: Temporal.Instant): Promise<number>;
  /** Day of the oldest assessment; `undefined` when there is none: one request. */
  oldestDay(deadline: Temporal.Instant): Promise<Temporal.PlainDate | undefined>;
  /**
   * Reads these days and says by which proof it saw everything, if by any.
   * @param bookmark where an earlier read of the same range ran out of time: this one has the rest
   */
  prove(range: DayRange, deadline: Temporal.Instant, bookmark?: Bookmark): Promise<RangeRead>;
  /** One assessment; `undefined` on 404, `unreadable` when it has not the documented shape. */
  get(id: number, deadline: Temporal.Instant): Promise<Assessment | 'unreadable' | undefined>;
}

export interface PulseRead extends Pulse {
  readonly quarantined: readonly QuarantinedRecord[];
}

export interface RangeRead {
  /** Every assessment seen, each once, as last read. */
  readonly assessments: readonly Assessment[];
  /** Records that do not have the documented shape: their days are not proven, whatever `proof` says. */
  readonly quarantined: readonly QuarantinedRecord[];
  /** What the partner counted for the range when it was read last. */
  readonly count: number;
  /** None: something may have been overlooked. */
  readonly proof?: Proof['kind'];
  /** Time ran out, not the host's patience or the names' variety. */
  readonly isCutOff: boolean;
  /** Where a read that was cut off can go on. */
  readonly bookmark?: Bookmark;
  readonly requests: number;
}

/** Where in its list by name the read of a range goes on that does not fit into one tick. */
export interface Bookmark {
  readonly range: DayRange;
  readonly offset: number;
  /** Ids that the next page must show one of. */
  readonly anchors: readonly number[];
  /** The rest can be looked at and not proven: no anchor is needed. */
  readonly isSweep?: boolean;
}

export interface DayBookmark extends Bookmark {
  /** The calendar's day that the range stands for. */
  readonly day: string;
  /** What the host counted for the range when this round began. */
  readonly count: number;
}

export interface QuarantinedRecord {
  readonly id?: number;
  /** `certified_on`, if it can be trusted. */
  readonly day?: string;
  /** Paths and what is wrong with them; no value of the record. */
  readonly problems: readonly string[];
}

/** What one tick knows of an integration before it looks at the partner. */
export interface State {
  /** Key of the fingerprints' hashes. */
  readonly salt: string;
  readonly baseline: Baseline;
  /**
   * When the last tick took the lease that did not get to its end, or not everything out: some outbox
   * may owe events since. Not when the first of several did: the index lags behind the last.
   */
  readonly dirtySince?: Temporal.Instant;
  /** End of the last tick that got there. */
  readonly heartbeat?: string;
  /** What the partner is expected to count: the calendar's sum. */
  readonly expected: number;
  /** By how much the partner's total differs although no day does. */
  readonly unexplained: number;
  /**
   * The last tick that looked has not found everything that the total differed by, or could not commit
   * something. Audits that it had no time for do not count.
   */
  readonly hasMoreToFind: boolean;
  /** What was expected when the total collapsed; absent while it has not. */
  readonly collapsedFrom?: number;
  readonly accepted?: AcceptedTotal;
  /** Changes of the day of the last tick that had any. */
  readonly today?: DayTally;
  /** Of the last pulse in which nothing was left to do. */
  readonly pulseDigest?: string;
  /** Years that the calendar has entries of. */
  readonly years: readonly number[];
  /** Of a day that does not fit into one tick. */
  readonly bookmark?: DayBookmark;
  readonly trail?: Trail;
  readonly flood: FloodMemory;
  /** Milliseconds since the epoch. */
  readonly recentAuditAt: number;
  readonly historyAuditAt: number;
  /** Before that, no audit: earlier ones have taken more requests than they may. */
  readonly auditsFrom: number;
  readonly backOff?: BackOff;
  /** Ops have stopped the integration. */
  readonly paused: boolean;
  /** Who, since when and why, as far as it was said. */
  readonly pause?: Pause;
  /** Somebody holds the lease, at the longest until then. */
  readonly leasedUntil?: Temporal.Instant;
  /** Quarantined records that have been reported. */
  readonly reported: readonly string[];
  /** What operations have been told of, or are still to be. */
  readonly conditions: OpenConditions;
  /** Absent when no event waits for a digest. */
  readonly digest?: DigestSchedule;
}

/** When people are told of events that subscribers have already. */
export interface DigestSchedule {
  /** Before, nobody looks for them. */
  readonly dueAt: Temporal.Instant;
  /** When the last of them was delivered: until the index shows it, a look may miss it. */
  readonly owedAt: Temporal.Instant;
}

export interface Pause {
  readonly since: Temporal.Instant;
  readonly by?: string | undefined;
  readonly reason: string;
}

export interface Baseline {
  readonly status: 'none' | 'running' | 'completed';
  /** When, in milliseconds since the epoch: it tells a restarted one from the one before. */
  readonly begunAt?: number;
  /** The day on which it began: what appears meanwhile from this day on is announced. */
  readonly startDay?: Temporal.PlainDate;
  /** Days before this one are still to be read: it proceeds from the newest to the oldest. */
  readonly before?: Temporal.PlainDate;
  /** Days that the next slice should have; less than one while a single day cannot be read. */
  readonly sliceDays?: number;
  /** Of a slice that does not fit into one tick. */
  readonly bookmark?: Bookmark;
  /** It is completed, and operations could not be told yet. */
  readonly isNoticeOwed?: boolean;
  /** One was completed before: what the ledger does not know is news, on whatever day. */
  readonly isAnew?: boolean;
}

/** Calendar days (`YYYY-MM-DD`), both included, among which the search for a difference ran out of time. */
export interface Trail {
  readonly from: string;
  readonly to: string;
}

/** What the flood guard keeps in mind from tick to tick. */
export interface FloodMemory {
  /** The flood that the last tick met has not been found to its end. */
  readonly isFlooded: boolean;
  /** The same of a flood of withdrawals, which holds nothing else. */
  readonly isDraining: boolean;
  /** Edits that reading days has found lately and that went out, oldest first: a mass edit comes to light a few a tick. */
  readonly edits: readonly PassedEdits[];
  /** Until then withdrawals are held, because the total had collapsed: milliseconds since the epoch. */
  readonly doubtfulUntil: number;
}

export interface PassedEdits {
  /** When the first of them was: milliseconds since the epoch. */
  readonly since: number;
  readonly number: number;
}

/** After a refusal that a retry does not mend, the partner is left alone for a while. */
export interface BackOff {
  readonly until: Temporal.Instant;
  /** Refusals in a row. */
  readonly failures: number;
}

export interface Lease {
  /** Identifies the tick. */
  readonly owner: string;
  readonly until: Temporal.Instant;
}

/** What a tick changes of the state at its end. What is absent stays. */
export interface StateChanges {
  /** `false` only when nothing is owed for certain. */
  readonly dirty: boolean;
  /** If only an earlier tick has left something: since then, and not since this one took the lease. */
  readonly dirtySince?: Temporal.Instant;
  readonly hasMoreToFind?: boolean;
  readonly baseline?: Baseline;
  readonly expected?: number;
  readonly unexplained?: number;
  /** 0: no longer. */
  readonly collapsedFrom?: number;
  /** `null`: no longer. */
  readonly accepted?: null;
  readonly today?: DayTally;
  readonly pulseDigest?: string;
  /** `null`: none any more. */
  readonly bookmark?: DayBookmark | null;
  /** `null`: none any more. */
  readonly trail?: Trail | null;
  readonly flood?: FloodMemory;
  readonly recentAuditAt?: number;
  readonly historyAuditAt?: number;
  readonly auditsFrom?: number;
  readonly reported?: readonly string[];
  /** `null`: nothing waits for a digest any more. */
  readonly digest?: DigestSchedule | null;
}

/** What the index by day tells of a certification; it may lag behind the certification itself. */
export interface DayCertification {
  readonly id: number;
  /** Over all compared fields. */
  readonly fingerprint: string;
  readonly presence: Presence;
}

/** One revision of a certification, as it was recorded. */
export interface Revision {
  readonly revision: number;
  /** `baseline`: recorded and not announced. */
  readonly kind: 'baseline' | Change['kind'];
  /** When it was recorded, as in its event's `time` (RFC 3339, UTC). */
  readonly at: string;
  /** Names of the fields that differ from the revision before. */
  readonly changed: readonly string[];
  /** Absent: in the baseline, or before this was kept. */
  readonly found?: Found | undefined;
  /** What its event says of it. Absent: in the baseline, or before this was kept. */
  readonly late?: boolean | undefined;
  /** What ops have decided about its event, newest last; empty: it needed no decision. */
  readonly decisions: readonly { readonly decision: Decision; readonly at: string }[];
}

/** What ops can do with an event that is held or undeliverable. */
export type Decision = 'released' | 'released-to-people' | 'retried' | 'discarded';

/** A certification and how it came to be what it is. */
export interface Life {
  readonly certification: Certification;
  /** The last 50 revisions at most, newest last; those before the history was kept are absent. */
  readonly history: readonly Revision[];
  /** Revisions whose events subscribers have not been sent, and what becomes of them. */
  readonly undelivered: ReadonlyMap<number, Undelivered>;
}

/** `pending`: the next tick delivers it. `held`: ops release or discard it. `undeliverable`: SNS refused it for good. */
export type Undelivered = 'pending' | 'held' | 'undeliverable';

/**
 * What the tick needs of the ledger. All writes are single-item; those that announce are conditional,
 * and the calendar, a cache, is written under the lease.
 *
 * @throws LedgerUnavailableError (every method: a write may have been done all the same), or
 * LedgerCorruptError when the state or the calendar is not as it was written
 */
export interface Ledger {
  /** One consistent read; the very first call creates the state. */
  state(): Promise<State>;
  /** The same, for those who only look: `undefined` before the very first tick. */
  recordedState(): Promise<State | undefined>;
  /**
   * Takes the lease and marks the state dirty from now on, in one write. The same owner may take it again.
   * @returns the state as it was just before, or `undefined` while another owner's lease lasts.
   */
  takeLease(lease: Lease, now: Temporal.Instant): Promise<State | undefined>;
  /** The heartbeat of a tick that never held the lease. */
  completeQuietly(now: Temporal.Instant): Promise<void>;
  /**
   * Heartbeat, what the tick has learned, and the lease given back.
   * @returns `false` when the lease had been lost: then nothing was written.
   */
  complete(lease: Lease, now: Temporal.Instant, changes: StateChanges): Promise<boolean>;
  /** The end of a tick that failed: the lease given back, `dirty` kept, no heartbeat. */
  giveBackLease(lease: Lease): Promise<void>;
  /** What is known of these conditions from now on; `undefined`: nothing. Each for itself, without a lease. */
  saveConditions(changes: ReadonlyMap<ConditionName, OpenCondition | undefined>): Promise<void>;
  /** Leaves the partner alone, or ends that. */
  backOff(backOff: BackOff | undefined): Promise<void>;
  /** How far the baseline has come, kept as it goes on. Needs the lease. */
  saveBaseline(baseline: Baseline): Promise<void>;
  /** What is known of these assessments, by id. */
  known(ids: readonly number[]): Promise<ReadonlyMap<number, Certification>>;
  /** What is known of these assessments and their revisions, by id. */
  lives(ids: readonly number[]): Promise<ReadonlyMap<number, Life>>;
  /** What is known of this day, by id. */
  knownOfDay(day: string): Promise<ReadonlyMap<number, DayCertification>>;
  /** The calendar's entries of these years. */
  calendar(years: readonly number[]): Promise<ReadonlyMap<string, DayEntry>>;
  /** Replaces entries of the calendar. Needs the lease. */
  saveDays(entries: ReadonlyMap<string, DayEntry>): Promise<void>;
  /** Makes sure that the calendar knows of these years. */
  addYears(years: readonly number[]): Promise<void>;
  /** Alters the counts of days; 0 makes sure that the calendar has the day. Needs the lease. */
  addToDays(deltas: ReadonlyMap<string, number>): Promise<void>;
  /** Records new certifications that are not announced. Needs the lease: its writes are unconditional. */
  recordSilently(sightings: readonly Sighting[], now: Temporal.Instant): Promise<void>;
  /**
   * One write: the certification's new state and its event in the outbox, owed or held. What comes
   * after a held event of the same certification is held with it.
   * @returns what is owed now, or `undefined` when another tick has committed this revision first.
   * @throws LedgerRefusedError when the item cannot take this event: a brief one may still fit
   */
  commit(
    change: Change,
    event: CertificationEvent,
    now: Temporal.Instant,
    destiny: 'pending' | 'held',
  ): Promise<Committed | undefined>;
  /**
   * What certifications owe of which an event is to be published, or of which all were published and
   * one is to be told of in a digest: oldest first, page by page, each read when it is asked for. An
   * item that cannot be read does not hide the others.
   */
  leftovers(owing: 'event' | 'digest'): AsyncIterable<Leftovers>;
  /** Takes delivered events out of their outboxes, or notes that only the digest is still owed. */
  settle(delivered: readonly OutboxEntry[], rest: 'nothing' | 'digest'): Promise<void>;
  /** Sets events aside that SNS refused for good: only ops can do something about them. */
  park(refused: readonly Refusal[]): Promise<void>;
  /** What waits for ops, oldest first, page by page. */
  kept(waiting: 'held' | 'undeliverable'): AsyncIterable<Leftovers>;
  /**
   * How many certifications have something that waits for ops, by the index alone: one that owes
   * something besides counts for that first (pending, digest, held, undeliverable).
   */
  countKept(waiting: 'held' | 'undeliverable'): Promise<number>;
}

/** What was committed, and whether an earlier event of the same certification has to go out first. */
export interface Committed extends OwedEvent {
  readonly behind?: 'pending' | 'held';
}

/** Names an entry of a certification's outbox. */
export type OutboxEntry = Pick<OwedEvent, 'certificationId' | 'revision'>;

export interface Leftovers {
  readonly owed: readonly OwedEvent[];
  readonly unreadable: readonly NotifierError[];
}

/** What the tick needs of SNS. It throws nothing: refusals and outages are answers, not exceptions. */
export interface Announcer {
  /**
   * To the machines, oldest first, retried until the deadline if need be. Answers which events SNS has
   * accepted, and why it refused the others. Of one subject, none goes out before an earlier one.
   */
  publish(owed: readonly OwedEvent[], deadline?: Temporal.Instant): Promise<PublishOutcome>;
  /** To the people: a digest of nothing yet. */
  digest(): DigestDraft;
  /** To ops: something that they should know, or do. */
  notify(notice: Notice): Promise<DigestOutcome>;
}

/** A plain-text message to the operations topic. No personal data. */
export interface Notice {
  readonly subject: string;
  readonly text: string;
}

export interface PublishOutcome {
  readonly accepted: readonly OwedEvent[];
  readonly refused: readonly Refusal[];
  /** SNS is down, or time is up: what else is to be published need not be tried in this tick. */
  readonly isDown?: true;
}

export interface Refusal {
  readonly owed: OwedEvent;
  /** SNS's error code, or the name of what kept the request from being answered. */
  readonly code: string;
  /** SNS will never take it as it is. */
  readonly forGood?: true;
}

/** A digest in the making; what it needs of memory does not grow with the events. */
export interface DigestDraft {
  add(event: CertificationEvent): void;
  send(): Promise<DigestOutcome>;
}

export type DigestOutcome =
  | { readonly accepted: true }
  | { readonly accepted: false; code: string };
