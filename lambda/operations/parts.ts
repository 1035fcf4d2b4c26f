import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import type { TickLine } from '../journal.ts';
import type { Announcer } from '../ports/announcer.ts';
import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import type { TickSettings } from '../tick/parts.ts';
import type { TickRun } from '../tick/tick.ts';
import type { TimeLimit } from '../tick/time-limit.ts';
import type { Answer } from './answer.ts';
import type { Command, CommandName, CommandOf, ResultOf } from './contract.ts';
import type { OpsLedger } from './ops-ledger.ts';

/** What events are built by. */
export type EventSettings = Pick<TickSettings, 'name' | 'timeZone' | 'recentDays' | 'fields'>;

export interface OperationSettings extends TickSettings {
  readonly baseUrl: string;
  readonly tokenRequest: 'form' | 'basic' | 'json';
  /** Minutes between two ticks. */
  readonly every: number;
}

/** The part of the ledger that only reads. */
export type LedgerReader = Pick<Ledger, 'recordedState' | 'calendar' | 'lives' | 'knownOfDay'>;

/** What commands ask of the ticks' ledger. */
export type OperationsLedger = LedgerReader &
  Pick<Ledger, 'state' | 'takeLease' | 'giveBackLease' | 'saveState' | 'saveDays'>;

/** Where it is recorded what was asked for and what came of it. */
export interface Records extends Journal {
  /** Neither holds personal data. */
  carriedOut(command: Command, answer: Answer): void;
}

/** What SNS says about a topic. */
export interface TopicFinding {
  readonly topic: 'events' | 'alerts' | 'operations';
  /** Why it cannot be looked at; absent: it is there. */
  readonly problem?: string | undefined;
  readonly confirmed: number;
  /** Subscriptions whose owner has not confirmed them yet: they get nothing. */
  readonly pending: number;
}

/** What commands work with: the ports of a tick, ticks themselves, and queues to send events to. */
export interface OperationParts {
  readonly settings: OperationSettings;
  readonly clock: Clock;
  readonly partner: PartnerReader;
  readonly ledger: OperationsLedger;
  readonly opsLedger: OpsLedger;
  readonly announcer: Pick<Announcer, 'publish'>;
  /** Sends to one queue, past the topic. */
  queue(arn: string): Pick<Announcer, 'publish'>;
  /** One tick, as if the schedule had started it. @param auditRequests instead of the settings' */
  tick(run: TickRun, auditRequests?: number): Promise<TickLine>;
  /** Reads the secret. @throws as the client does when there are no credentials in it */
  credentials(): Promise<unknown>;
  topics(): Promise<readonly TopicFinding[]>;
  /** By how much the partner's clock is ahead of ours, by its last answer; undefined: it did not say. */
  partnerAheadMs(): number | undefined;
  readonly journal: Records;
}

/** One invocation of the function. */
export interface Call {
  /** Unique; becomes the owner of a lease. */
  readonly id: string;
  /** When the invocation is killed. */
  readonly killedAt: Temporal.Instant;
  readonly limit: TimeLimit;
  /** Under which a changing command is recorded. */
  readonly operation?: string | undefined;
}

/** What a command has done, and what ended it before its time, if anything. */
export interface Outcome<Result> {
  readonly result: Result;
  readonly failure?: unknown;
}

/** Carries out a command. What it throws has ended it before anything was done. */
export type Carrier<Name extends CommandName> = (
  parts: OperationParts,
  command: CommandOf<Name>,
  call: Call,
) => Promise<Outcome<ResultOf<Name>>>;
