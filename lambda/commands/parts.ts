import type { Clock } from '../clock.ts';
import type { FunctionJournal } from '../function-journal.ts';
import type { TopicName } from '../names.ts';
import type { Announcer } from '../ports/announcer.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import type { TickSettings } from '../settings.ts';
import type { TickReport } from '../tick/report.ts';
import type { TickRun } from '../tick/tick.ts';
import type { Time } from '../tick/time.ts';
import type { OpsLedger } from './ops-ledger.ts';

/** SNS's facts about a topic. */
export interface TopicFinding {
  readonly topic: TopicName;
  /** Why it cannot be looked at; absent: it is there. */
  readonly problem?: string | undefined;
  readonly confirmed: number;
  /** Subscriptions whose owner has not confirmed them yet: they get nothing. */
  readonly pending: number;
  /** The key that encrypts it: its ARN, as a rule. */
  readonly key?: string | undefined;
}

/** The key that encrypts the topics. */
export interface TopicKey {
  /** As KMS calls it: `Enabled`, `Disabled`, `PendingDeletion` and others. */
  readonly state: string;
  /** JSON. */
  readonly policy: string;
}

/** The subscriptions of a topic, as SNS lists them. */
export interface Subscribers {
  /** Why SNS does not list all of them; absent: it does. */
  readonly problem?: string | undefined;
  readonly listed: readonly {
    readonly protocol: string;
    /** May be a person's address, so it must not be shown. */
    readonly endpoint: string;
    readonly isConfirmed: boolean;
  }[];
}

/** The parts of commands: the ports of a tick, ticks themselves, and queues to send events to. */
export interface OperationParts {
  readonly settings: TickSettings;
  readonly clock: Clock;
  readonly partner: PartnerReader;
  readonly ledger: Ledger;
  readonly opsLedger: OpsLedger;
  readonly announcer: Pick<Announcer, 'publish'>;
  /** Sends to one queue, past the topic. */
  queue(arn: string): Pick<Announcer, 'publish'>;
  /**
   * Runs one tick, as if the schedule had started it.
   * @param auditRequests instead of the settings'
   */
  tick(run: TickRun, auditRequests?: number): Promise<TickReport>;
  /**
   * Reads the secret.
   * @throws the client's error if it has no credentials
   */
  credentials(): Promise<unknown>;
  topics(): Promise<readonly TopicFinding[]>;
  /**
   * By its ARN, its id or an alias.
   * @returns undefined for a key of another account, which alone may look at it
   * @throws Denial
   */
  topicKey(key: string): Promise<TopicKey | undefined>;
  /**
   * @returns the key that encrypts a queue; undefined if SQS encrypts it by itself, or if it is of
   * another account
   * @throws Denial
   */
  queueKey(arn: string): Promise<string | undefined>;
  /** @throws AccessDeniedError */
  subscribers(topic: TopicFinding['topic']): Promise<Subscribers>;
  readonly journal: Pick<FunctionJournal, 'info' | 'warn'>;
}

/** One invocation of the function. */
export interface Call {
  /** Unique; becomes the owner of a lease. */
  readonly id: string;
  readonly time: Time;
  /** The name under which a changing command is recorded. */
  readonly operation?: string | undefined;
}
