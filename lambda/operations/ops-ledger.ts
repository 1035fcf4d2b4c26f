import type { Temporal } from 'temporal-polyfill';
import type { CommandOutcome, CommandRecord } from '../ports/command-record.ts';
import type { Decision, Kept, KeptEvent, Life, Waits } from '../ports/ledger.ts';
import type { Pause } from '../ports/state.ts';

/** A certification that has had an event. */
export interface LastEvent {
  readonly id: number;
  /** Of its last event, which has its time, in milliseconds since the epoch. */
  readonly revision: number;
  readonly at: number;
}

export interface LatestPage {
  readonly lives: readonly Life[];
  /** Those whose items cannot be read. */
  readonly unreadable: readonly LastEvent[];
  /** Up to here, in milliseconds since the epoch, nothing is left out: every certification with a later last event was there, or not wanted. */
  readonly reached: number;
}

export interface Decided {
  /** Those that it was done to. */
  readonly done: readonly KeptEvent[];
  /** Chosen, and still held because one before them is, which was not chosen. */
  readonly behind: number;
  /** Not chosen, and held no longer, because what they were behind is decided: they go out. */
  readonly freed: number;
  /** Would have gone out, and left the outbox instead: they led away from what it was like and back to it. */
  readonly undone: number;
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
  story(id: number): Promise<Life | undefined>;
  /**
   * Certifications by their last event, the newest first, page by page, each as it is when it is asked for. The index
   * lags by a moment. A certification that has another event meanwhile moves up, and may be missed.
   * @param from no further back
   * @param now by which month the newest is found
   * @param isWanted others are passed over without a look at their items
   */
  latest(
    from: Temporal.Instant,
    now: Temporal.Instant,
    isWanted: (last: LastEvent) => boolean,
  ): AsyncIterable<LatestPage>;
  /** The same, the oldest first. One that moves up comes later: none is missed. */
  latestSince(
    ...asked: Parameters<OpsLedger['latest']>
  ): AsyncIterable<Omit<LatestPage, 'reached'>>;
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
