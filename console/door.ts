import type { Clock } from '../lambda/clock.ts';
import type { Place } from '../lambda/condition-table.ts';
import type { CommandName, ResultOf } from '../lambda/operations/contract.ts';
import type { AdvisedStatus } from '../ops/render/status.ts';
import type { SettingsOf } from '../ops/target/operate-client.ts';

/** How the command line's own program is run. */
export interface Carrying {
  /** Standard input. */
  readonly input: string;
  /** What it tells, as it comes, with the marks that a terminal takes for colours. */
  tell(text: string): void;
  /** Answers what it asks before it changes anything. */
  confirm(question: string): Promise<boolean>;
  /** Aborts as Ctrl-C does. */
  readonly stopping: AbortController;
}

/** What the console has of a deployment: the same client and the same commands as the command line. */
export interface Door {
  /** The stack's name. */
  readonly title: string;
  readonly clock: Clock;
  /** Times are told in it: an IANA name. */
  readonly zone: string;
  /** Where commands that a page tells are to be given. */
  place(integration?: string): Place;
  /** @throws OpsError: not found, not signed in, still starting */
  integrations(): Promise<readonly string[]>;
  /** @throws OpsError */
  ask<Name extends CommandName>(
    integration: string,
    name: Name,
    settings: SettingsOf<Name>,
  ): Promise<ResultOf<Name>>;
  /** As the command line tells it. @throws OpsError */
  status(integration: string, settings?: SettingsOf<'status'>): Promise<AdvisedStatus>;
  /** Has the command line carry out a command. @returns its exit code; what goes wrong is told, too */
  carryOut(argv: readonly string[], carrying: Carrying): Promise<number>;
  /** Tells when something may have changed, until the signal aborts. */
  follow(changed: () => void, signal: AbortSignal): void;
  /** What only `npm start` has. */
  readonly local?: LocalDoor;
}

/** An event as subscribers have it. */
export interface ReceivedEvent {
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

/** What the world has, what subscribers have, and what lies between. Certifications, each counted once. */
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
  /** Differ otherwise: not noticed yet, or missing until the second look. */
  readonly difference: number;
}

/** Something that anybody can do to the partner, to AWS or to a tick. */
export interface Provocation {
  readonly name: string;
  readonly title: string;
  readonly does: string;
  /** What must come of it. */
  readonly expected: string;
  /** Whether it lasts just now; absent: it is over as soon as it has happened. */
  readonly isOn?: boolean;
}

/** Each integration of `npm start` can be provoked. */
export interface Provoking {
  provocations(integration: string): readonly Provocation[];
  /**
   * @param wanted of one that lasts, `on` or `off`: where it is so already, nothing is done
   * @throws OpsError when there is none of that name
   */
  provoke(integration: string, name: string, wanted?: string): Promise<void>;
  /** Undefined: its baseline is still being read, or there are too many to compare. */
  tally(integration: string): Promise<LocalTally | undefined>;
  /** Ticks that failed because of a provocation. */
  readonly failedTicks: number;
  /** What was provoked, the newest first. */
  readonly done: readonly {
    readonly at: string;
    readonly integration: string;
    readonly title: string;
  }[];
}

/** What the instance of `npm start` has beside what is deployed: it is the partner and the subscribers, too. */
export interface LocalDoor {
  /** What it is doing before everything is ready; empty: it is. */
  readonly progress: readonly string[];
  /** Its partner is a real one: neither events nor mails are kept, since people are named in them. */
  readonly isReal: boolean;
  /** The newest ones first. */
  readonly events: readonly ReceivedEvent[];
  readonly mails: readonly ReceivedMail[];
  readonly notices: readonly ReceivedMail[];
  /** Absent: the partner is a real one, or everything is still starting. */
  readonly provoking?: Provoking | undefined;
}
