import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { DayEntry } from '../detection/calendar.ts';
import { type Certification, type Change, found, type Sighting } from '../detection/compare.ts';
import type { NotifierError } from '../errors.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { Refusal } from './announcer.ts';
import type { Lease, LeasedState, State, StateChanges } from './state.ts';

/**
 * What the tick needs of the ledger. All writes are single-item; those that announce are conditional,
 * and the calendar, a cache, is written under the lease.
 *
 * @throws AccessDeniedError, ResourceUnusableError, LedgerUnavailableError (every method: a write may have been done all the same), or
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
  takeLease(lease: Lease, now: Temporal.Instant): Promise<LeasedState | undefined>;
  /**
   * Writes what changes of the state: at any time, or under the lease, as all that other ticks change, too.
   * With `noLease` among the changes, the lease is given back by the last write.
   * @returns `false` when the lease had been lost: then nothing was written.
   */
  saveState(changes: StateChanges, lease?: Lease): Promise<boolean>;
  /** What is known of these assessments, by id. */
  known(ids: readonly number[]): Promise<ReadonlyMap<number, Certification>>;
  /** All that the ledger has of these assessments, by id. */
  lives(ids: readonly number[]): Promise<ReadonlyMap<number, Life>>;
  /** What is known of this day, by id. */
  knownOfDay(day: string): Promise<ReadonlyMap<number, DayCertification>>;
  /** The calendar's entries of these years. */
  calendar(years: Iterable<number>): Promise<ReadonlyMap<string, DayEntry>>;
  /** Replaces entries of the calendar. Needs the lease. */
  saveDays(entries: ReadonlyMap<string, DayEntry>): Promise<void>;
  /**
   * Makes sure that the calendar has these days, before anything of them is committed: otherwise a crash
   * right after could leave a certification on a day that nobody would ever look at.
   */
  touch(days: Iterable<string>): Promise<void>;
  /** Alters the counts of days that the calendar has. Needs the lease. */
  addToDays(deltas: ReadonlyMap<string, number>): Promise<void>;
  /** Records new certifications that are not announced. Needs the lease: its writes are unconditional. */
  recordSilently(sightings: readonly Sighting[], now: Temporal.Instant): Promise<void>;
  /**
   * One write: the certification's new state and its event in the outbox, owed or held. What comes
   * after a held event of the same certification is held with it. Where all of its events are held and were
   * never offered to SNS, and the change makes it again as subscribers were last told, these leave the
   * outbox instead.
   * @returns what is owed now, `undone` when nothing is, or `undefined` when another tick has committed this
   * revision first.
   * @throws LedgerRefusedError when the item cannot take this event: a brief one may still fit
   */
  commit(
    change: Change,
    event: CertificationEvent,
    now: Temporal.Instant,
    destiny: 'pending' | 'held',
  ): Promise<Committed | 'undone' | undefined>;
  /**
   * What certifications owe of which an event is to be published, or of which all were published and
   * one is to be told of in a digest: oldest first, page by page, each read when it is asked for. An
   * item that cannot be read does not hide the others.
   */
  leftovers(owing: 'event' | 'digest'): AsyncIterable<Omit<KeptPage, 'end'>>;
  /** Takes delivered events out of their outboxes, or notes that only the digest is still owed. */
  settle(delivered: readonly OutboxEntry[], rest: 'nothing' | 'digest'): Promise<void>;
  /** Sets events aside that SNS refused for good: only ops can do something about them. */
  park(refused: readonly Refusal[]): Promise<void>;
  /**
   * What waits for ops, page by page, oldest first within each place of the index.
   * @param after the end of the last page of an earlier look
   */
  kept(waiting: Kept, after?: string): AsyncIterable<KeptPage>;
  /**
   * How many certifications have something that waits for ops, by the index alone: one that owes
   * something besides counts for that first (pending, digest, held, undeliverable).
   */
  countKept(waiting: Kept): Promise<number>;
}

/** What the index by day tells of a certification; it may lag behind the certification itself. */
export type DayCertification = Pick<Certification, 'presence'> & { readonly fingerprint: string };

/** What ops can do with an event that is held or undeliverable. */
const decision = z.enum(['released', 'released-to-people', 'retried', 'discarded']);

export type Decision = z.output<typeof decision>;

export const decided = z.object({ decision, at: z.iso.datetime() });

/** What is noted of a revision of a certification. */
export const revisionNoted = z.object({
  /** `baseline`: recorded and not announced. */
  kind: z.enum(['baseline', 'created', 'updated', 'withdrawn', 'restored']),
  /** When it was recorded, as in its event's `time` (RFC 3339, UTC). */
  at: z.iso.datetime(),
  /** Names of the fields that differ from the revision before. */
  changed: z._default(z.readonly(z.array(z.string())), () => []),
  /** Absent: in the baseline, or before this was kept. */
  found: z.optional(found),
  /** What its event says of it. Absent: in the baseline, or before this was kept. */
  late: z.optional(z.boolean()),
  /** It was held, or undid what was: nobody was told of it. */
  undone: z.optional(z.literal(true)),
  /** What ops have decided about its event, newest last; empty: it needed no decision. */
  decisions: z._default(z.readonly(z.array(decided)), () => []),
});

/** One revision of a certification, as it was recorded. */
export interface Revision extends Readonly<z.output<typeof revisionNoted>> {
  readonly revision: number;
  /** What its event waits for; absent: for nothing. */
  readonly waits?: Waits;
  /** It is held only because one before it is. */
  readonly isBehind: boolean;
  /** With which SNS has refused it for good. */
  readonly code?: string;
}

/** A certification and how it came to be what it is. */
export interface Life {
  readonly certification: Certification;
  readonly firstSeen?: string | undefined;
  /** The last 50 at most, newest last; those before the history was kept are absent. */
  readonly revisions: readonly Revision[];
}

/**
 * What an entry of an outbox waits for: to be published; to be told of in a digest, once it was
 * published; ops, who release what is held; ops again, because SNS refused it for good.
 */
export type Waits = 'pending' | 'digest' | 'held' | 'undeliverable';
/** What waits for ops. */
export type Kept = Extract<Waits, 'held' | 'undeliverable'>;

/** What was committed, and whether an earlier event of the same certification has to go out first. */
export interface Committed extends OwedEvent {
  readonly behind?: 'pending' | 'held';
}

/** Names an entry of a certification's outbox. */
export type OutboxEntry = Pick<OwedEvent, 'certificationId' | 'revision'>;

/** An event that waits for ops. */
export interface KeptEvent extends OwedEvent {
  /** With which SNS has refused it for good. */
  readonly code?: string;
}

export interface KeptPage {
  readonly owed: readonly KeptEvent[];
  readonly unreadable: readonly NotifierError[];
  /** Where a look that has done this page goes on. */
  readonly end: string;
}
