import type { Temporal } from 'temporal-polyfill';
import type { DayEntry } from '../decisions/calendar.ts';
import type { Certification, Change, Found, Outdated, Sighting } from '../decisions/compare.ts';
import type { GateMemory } from '../decisions/gate.ts';
import type { Decision, RevisionNoted } from '../decisions/history.ts';
import type { Lease, LeasedState, State, StateChanges } from '../decisions/state.ts';
import type { NotifierError } from '../errors.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { Refusal } from './announcer.ts';

/**
 * The tick's port to the ledger. All writes are single-item. Those that announce are conditional;
 * the calendar, a cache, is written under the lease.
 *
 * @throws AccessDeniedError, ResourceUnusableError, LedgerUnavailableError (every method: a write
 * may have been done all the same), or LedgerCorruptError if the state or the calendar is not as it
 * was written
 */
export interface Ledger {
  /** One consistent read; the very first call creates the state. */
  state(): Promise<State>;
  /** The state, which this call does not create: `undefined` before the very first tick. */
  recordedState(): Promise<State | undefined>;
  /**
   * Takes the lease and sets `dirtySince` to now, in one write. The same owner may take it again.
   * Notes a doubted lease of another owner (decisions/lease.ts).
   *
   * @returns the state as it was just before, or `undefined` while another owner's lease lasts
   */
  takeLease(lease: Lease, now: Temporal.Instant): Promise<LeasedState | undefined>;
  /**
   * Writes changes of the state. A field that other ticks change as well needs the lease. With
   * `noLease` among the changes, the last write gives the lease back.
   *
   * @returns `false` if the lease had been lost: then nothing was written
   */
  saveState(changes: StateChanges, lease?: Lease): Promise<boolean>;
  /** The gate's memory, as a holder of the lease has last written it. */
  gate(): Promise<GateMemory>;
  /** The certifications of these ids. */
  known(ids: readonly number[]): Promise<ReadonlyMap<number, Certification>>;
  /** The lives of these ids. */
  lives(ids: readonly number[]): Promise<ReadonlyMap<number, Life>>;
  /** The index's entries of this day, by id. */
  knownOfDay(day: string): Promise<ReadonlyMap<number, DayCertification>>;
  /** The calendar's entries of these years. */
  calendar(years: Iterable<number>): Promise<ReadonlyMap<string, DayEntry>>;
  /**
   * Replaces entries of the calendar.
   *
   * @param lease absent: nobody else writes
   * @throws LeaseLostError, here and below, with the rest unwritten: these writes have no condition,
   * so each request goes out only while the lease is still ours
   */
  saveDays(entries: ReadonlyMap<string, DayEntry>, lease?: Lease): Promise<void>;
  /**
   * Adds days to the calendar before their certifications are committed. Otherwise, a crash could
   * leave a certification on a day that no tick ever looks at.
   */
  touch(days: Iterable<string>): Promise<void>;
  /** Alters the counts of days that the calendar has. @throws LeaseLostError */
  addToDays(deltas: ReadonlyMap<string, number>, lease?: Lease): Promise<void>;
  /**
   * Records new certifications that are not announced. Items that `known` has found unreadable stay
   * as they are. @returns how many were recorded. @throws LeaseLostError
   */
  recordSilently(
    sightings: readonly Sighting[],
    now: Temporal.Instant,
    lease?: Lease,
  ): Promise<number>;
  /** Replaces hashes of certifications that are as they were compared. */
  rehash(outdated: readonly Outdated[]): Promise<void>;
  /**
   * One write: the certification's new state, and its event in the outbox, owed or held. An event
   * behind a held one of the same certification is held as well. If all events of the certification
   * are held, none was ever offered to SNS, and the change makes it again as subscribers were last
   * told, these events leave the outbox instead.
   *
   * @returns the event that is owed now, `undone` if none is, or `undefined` if another tick has
   * committed this revision first
   * @throws LedgerRefusedError if the item cannot take this event: a brief one may still fit
   */
  commit(
    change: Change,
    event: CertificationEvent,
    now: Temporal.Instant,
    destiny: 'pending' | 'held',
  ): Promise<Committed | 'undone' | undefined>;
  /**
   * Events that earlier ticks have left. `event`: certifications with an event to publish.
   * `digest`: certifications with only published events, one of which a digest still has to list.
   * They come oldest first, page by page, each read when it is asked for. An unreadable item does
   * not hide the others.
   */
  leftovers(owing: 'event' | 'digest'): AsyncIterable<Omit<WaitingPage, 'end'>>;
  /**
   * Takes delivered events out of their outboxes, or notes that only the digest is still owed. With its commit, an event
   * that people are told of costs three writes.
   */
  settle(delivered: readonly OutboxEntry[], rest: 'nothing' | 'digest'): Promise<void>;
  /** Sets events aside that SNS refused for good: only ops can act on them. */
  park(refused: readonly Refusal[]): Promise<void>;
  /**
   * Events that wait for ops, page by page, oldest first within each place of the index.
   *
   * @param after the end of the last page of an earlier call
   */
  waitingForOps(waiting: WaitsForOps, after?: string): AsyncIterable<WaitingPage>;
  /**
   * Counts certifications with events that wait for ops, by the index alone. A certification that
   * waits for several things is listed under the first of pending, digest, held, undeliverable.
   */
  countWaitingForOps(waiting: WaitsForOps): Promise<number>;
  /**
   * Decides the chosen events of one certification, as they are now. Needs the lease: the next tick
   * finds released events only because the lease has set `dirtySince`.
   *
   * @param choose may be called more than once
   */
  decide(
    certificationId: number,
    waits: WaitsForOps,
    decision: Decision,
    choose: (event: WaitingEvent) => boolean,
    now: Temporal.Instant,
  ): Promise<Decided>;
}

export interface Decided {
  /** The events that were decided, each with the reason for which it was held, if it had one. */
  readonly done: readonly (WaitingEvent & { readonly found?: Pick<Found, 'reason'> })[];
  /** Chosen events that stay held behind one that was not chosen. */
  readonly behind: number;
  /** Events that were not chosen and go out, because the event before them is decided. */
  readonly freed: number;
  /**
   * Events that left the outbox instead of going out: they led away from a state and back to it.
   */
  readonly undone: number;
}

/** The index's entry of a certification by day; it may lag behind the certification's item. */
export type DayCertification = Pick<Certification, 'presence'> & { readonly fingerprint: string };

/** One revision of a certification, as it was recorded. */
export interface Revision extends RevisionNoted {
  readonly revision: number;
  /** Why its event waits; absent: it does not. */
  readonly waits?: Waits;
  /** It is held only because one before it is. */
  readonly isBehind: boolean;
  /** The code with which SNS refused it for good. */
  readonly code?: string;
}

/** A certification and its history. */
export interface Life {
  readonly certification: Certification;
  readonly firstSeen?: string | undefined;
  /** The last 50 at most, newest last, without those from before the history was stored. */
  readonly revisions: readonly Revision[];
}

/**
 * Why an entry of an outbox waits. `pending`: to be published. `digest`: it is published, and a
 * digest has to list it. `held`: ops have to release it. `undeliverable`: SNS refused it for good,
 * and ops have to decide.
 */
export type Waits = 'pending' | 'digest' | 'held' | 'undeliverable';
/** The reasons of entries that wait for ops. */
export type WaitsForOps = Extract<Waits, 'held' | 'undeliverable'>;

/** A committed event. `behind`: an earlier event of the same certification has to go out first. */
export interface Committed extends OwedEvent {
  readonly behind?: 'pending' | 'held';
}

/** Names an entry of a certification's outbox. */
export type OutboxEntry = Pick<OwedEvent, 'certificationId' | 'revision'>;

/** An event that waits for ops. */
export interface WaitingEvent extends OwedEvent {
  /** The code with which SNS refused it for good. */
  readonly code?: string;
}

export interface WaitingPage {
  readonly owed: readonly WaitingEvent[];
  readonly unreadable: readonly NotifierError[];
  /** Where a later call resumes after this page. */
  readonly end: string;
}
