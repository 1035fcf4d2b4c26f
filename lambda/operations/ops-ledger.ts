import type { Temporal } from 'temporal-polyfill';
import type { Certification } from '../detection/compare.ts';
import type { NotifierError } from '../errors.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { CommandOutcome, CommandRecord } from '../ports/command-record.ts';
import type { Decision, Revision } from '../ports/ledger.ts';
import type { Pause } from '../ports/state.ts';

/** What an entry of an outbox waits for. */
export type Waits = 'pending' | 'digest' | 'held' | 'undeliverable';
/** What waits for ops. */
export type Kept = Extract<Waits, 'held' | 'undeliverable'>;

/** An event that waits for ops. */
export interface KeptEvent {
  readonly certificationId: number;
  readonly revision: number;
  readonly event: CertificationEvent;
  /** With which SNS has refused it for good. */
  readonly code?: string;
}

export interface KeptPage {
  readonly events: readonly KeptEvent[];
  readonly unreadable: readonly NotifierError[];
  /** Where a look that has done this page goes on. */
  readonly end: string;
}

/** What ops decide about an event that waits for them. */
export type { Decision };

export interface Decided {
  /** Those that it was done to. */
  readonly done: readonly KeptEvent[];
  /** Chosen, and still held because one before them is, which was not chosen. */
  readonly behind: number;
  /** Not chosen, and held no longer, because what they were behind is decided: they go out. */
  readonly freed: number;
}

/** A revision of a certification, with what became of its event. */
export interface RevisionStory extends Revision {
  readonly waits?: Waits;
  /** It is held only because one before it is. */
  readonly isBehind: boolean;
  /** With which SNS has refused it for good. */
  readonly code?: string;
}

/** All that the ledger has of one certification. */
export interface CertificationStory {
  readonly certification: Certification;
  readonly firstSeen?: string;
  readonly revisions: readonly RevisionStory[];
}

/** What the people on duty ask of the ledger, beside what ticks do. */
export interface OpsLedger {
  /**
   * @param call names it, as in `resume`: a second write of the same call is part of it
   * @returns `false` when it was paused already: then nothing is changed
   */
  pause(pause: Pause, call: string): Promise<boolean>;
  /** @returns `false` when it was not paused */
  resume(call: string): Promise<boolean>;
  /** How many certifications wait for each, by the index alone. */
  waiting(): Promise<Readonly<Record<Waits, number>>>;
  /** @throws LedgerCorruptError */
  story(id: number): Promise<CertificationStory | undefined>;
  /** What waits for ops, page by page, oldest first within each of its places. */
  kept(waits: Kept, after?: string): AsyncIterable<KeptPage>;
  /**
   * Does it to those events of one certification that are chosen, as they are now. Needs the lease:
   * what is released is found by the next tick only because the lease has marked the state.
   * @param choose may be asked more than once
   */
  decide(
    certificationId: number,
    waits: Kept,
    decision: Decision,
    choose: (event: KeptEvent) => boolean,
    now: Temporal.Instant,
  ): Promise<Decided>;
  /** Notes a changing command before it is carried out; the last hundred are kept. */
  record(command: CommandRecord): Promise<void>;
  conclude(operation: string, outcome: CommandOutcome): Promise<void>;
  /** Newest first. */
  recorded(): Promise<readonly CommandRecord[]>;
}
