import type { Temporal } from 'temporal-polyfill';
import type { CommandOutcome, CommandRecord } from '../decisions/command-record.ts';
import type { Pause } from '../decisions/state.ts';
import type { Life, Waits } from '../ports/ledger.ts';

/** A certification that has had an event. */
export interface LastEvent {
  readonly id: number;
  /** The revision of its last event; `at` is the event's time, in milliseconds since the epoch. */
  readonly revision: number;
  readonly at: number;
}

export interface LatestPage {
  readonly lives: readonly Life[];
  /** Certifications whose items cannot be read. */
  readonly unreadable: readonly LastEvent[];
  /**
   * The list is complete back to here, in milliseconds since the epoch: every certification with a
   * later last event was in it, or not wanted.
   */
  readonly reached: number;
}

/** The port of ops' commands to the ledger, besides the port of ticks. */
export interface OpsLedger {
  /**
   * @param call its name, as in `resume`: a second write of the same call is part of it
   * @returns `false` if it was paused already: then nothing is changed
   */
  pause(pause: Pause, call: string): Promise<boolean>;
  /** @returns `false` when it was not paused */
  resume(call: string): Promise<boolean>;
  /** How many certifications wait for each, by the index alone. */
  waiting(): Promise<Readonly<Record<Waits, number>>>;
  /** @throws LedgerCorruptError */
  story(id: number): Promise<Life | undefined>;
  /**
   * Certifications by their last event, the newest first, page by page, each as it is when it is
   * asked for. The index lags by a moment. A certification that has another event meanwhile moves
   * up, and may be missed.
   *
   * @param from where the list ends
   * @param now tells the month of the newest
   * @param isWanted others are passed over without a look at their items
   */
  latest(
    from: Temporal.Instant,
    now: Temporal.Instant,
    isWanted: (last: LastEvent) => boolean,
  ): AsyncIterable<LatestPage>;
  /** The same, the oldest first. A certification that moves up comes later, so none is missed. */
  latestSince(
    ...asked: Parameters<OpsLedger['latest']>
  ): AsyncIterable<Omit<LatestPage, 'reached'>>;
  /** Notes a changing command before it is carried out; the last hundred stay. */
  record(command: CommandRecord): Promise<void>;
  conclude(operation: string, outcome: CommandOutcome): Promise<void>;
  /** Newest first. */
  recorded(): Promise<readonly CommandRecord[]>;
}
