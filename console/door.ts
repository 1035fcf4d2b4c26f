import type { Clock } from '../lambda/clock.ts';
import type { CommandName, ResultOf } from '../lambda/commands/contract.ts';
import type { CommandPlace } from '../lambda/condition-table.ts';
import type { AdvisedStatus } from '../ops/render/status.ts';
import type { SettingsOf } from '../ops/target/operate-client.ts';

/** One run of the command line's own program. */
export interface Carrying {
  /** Standard input. */
  readonly input: string;
  /** Receives the output piece by piece, with a terminal's marks for colours. */
  tell(text: string): void;
  /** Answers the question before a change. */
  confirm(question: string): Promise<boolean>;
  /** Aborts as Ctrl-C does. */
  readonly stopping: AbortController;
}

/** The console's view of a deployment: the same client and the same commands as the command line. */
export interface Door {
  /** The stack's name. */
  readonly title: string;
  readonly clock: Clock;
  /** The zone of all shown times: an IANA name. */
  readonly zone: string;
  /** The place for commands that a page shows. */
  place(integration?: string): CommandPlace;
  /** @throws OpsError: not found, not signed in, still starting */
  integrations(): Promise<readonly string[]>;
  /** @throws OpsError */
  ask<Name extends CommandName>(
    integration: string,
    name: Name,
    settings: SettingsOf<Name>,
  ): Promise<ResultOf<Name>>;
  /** With the advice that the command line gives. @throws OpsError */
  status(integration: string, settings?: SettingsOf<'status'>): Promise<AdvisedStatus>;
  /** Runs a command of the command line. @returns its exit code; errors are part of the output */
  carryOut(argv: readonly string[], carrying: Carrying): Promise<number>;
  /** Calls back when something may have changed, until the signal aborts. */
  follow(changed: () => void, signal: AbortSignal): void;
  /** The parts that only `npm start` has. */
  readonly local?: LocalDoor;
}

/** An event as subscribers get it. */
export interface DeliveredEvent {
  readonly id: string;
  /** JSON, as it was published. */
  readonly body: string;
  readonly receivedAt: string;
  /** The subscriptions whose filter let it through. */
  readonly by: readonly string[];
}

/** A mail or a notice as a person gets it. */
export interface ReceivedMail {
  readonly subject: string;
  readonly text: string;
  readonly receivedAt: string;
}

/** Compares the partner's world with the subscribers' knowledge. Certifications, each counted once. */
export interface LocalTally {
  readonly world: number;
  readonly subscribers: number;
  readonly baseline: number;
  /** By the newest event of each. */
  readonly created: number;
  readonly updated: number;
  readonly withdrawn: number;
  readonly restored: number;
  /** Differ, and wait for ops. */
  readonly held: number;
  /** Differ, and wait for the next tick. */
  readonly owed: number;
  /** Differ because ops discarded the newest event. */
  readonly discarded: number;
  /** Differ otherwise: not noticed yet, or missing until the second look. */
  readonly difference: number;
}

/** Something that the user can do to the partner, to AWS or to a tick. */
export interface Provocation {
  readonly name: string;
  readonly title: string;
  readonly does: string;
  /** The effect that must follow. */
  readonly expected: string;
  /** Whether a lasting provocation is on; absent: it is over at once. */
  readonly isOn?: boolean;
}

/** Each integration of `npm start` can be provoked. */
export interface Provoking {
  provocations(integration: string): readonly Provocation[];
  /**
   * @param wanted `on` or `off`, for a lasting one; nothing is done if that is its state already
   * @throws OpsError if none has that name
   */
  provoke(integration: string, name: string, wanted?: string): Promise<void>;
  /** Undefined: its baseline is still being read, or there are too many to compare. */
  tally(integration: string): Promise<LocalTally | undefined>;
  /** Ticks that failed because of a provocation. */
  readonly failedTicks: number;
  /** Past provocations, the newest first. */
  readonly done: readonly {
    readonly at: string;
    readonly integration: string;
    readonly title: string;
  }[];
}

/** The parts of `npm start` that a deployment lacks: it is also the partner and the subscribers. */
export interface LocalDoor {
  /** The steps of the start so far; empty: everything is ready. */
  readonly progress: readonly string[];
  /** The partner is a real one, so neither events nor mails are stored: they name people. */
  readonly isReal: boolean;
  /** The newest ones first. */
  readonly events: readonly DeliveredEvent[];
  readonly mails: readonly ReceivedMail[];
  readonly notices: readonly ReceivedMail[];
  /** Absent: the partner is a real one, or the instance is still starting. */
  readonly provoking?: Provoking | undefined;
}
