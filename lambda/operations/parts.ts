import type { Clock } from '../clock.ts';
import type { Journal, TickSettings } from '../parts.ts';
import type { Announcer, Ledger, PartnerReader } from '../ports.ts';
import type { Answer } from './answer.ts';
import type { Command } from './command.ts';

/** What events are built by. */
export type EventSettings = Pick<TickSettings, 'name' | 'timeZone' | 'recentDays' | 'fields'>;

/** The part of the ledger that only reads; so does the role of the operate function. */
export type LedgerReader = Pick<Ledger, 'recordedState' | 'calendar' | 'lives' | 'knownOfDay'>;

/** Where it is recorded what was asked for and what came of it. */
export interface Records extends Journal {
  /** Neither holds personal data. */
  carriedOut(command: Command, answer: Answer): void;
}

/** What commands work with: the ports of a tick, and queues to send events to. */
export interface OperationParts {
  readonly settings: EventSettings;
  readonly clock: Clock;
  readonly partner: PartnerReader;
  readonly ledger: LedgerReader;
  readonly announcer: Pick<Announcer, 'publish'>;
  /** Sends to one queue, past the topic. */
  queue(arn: string): Pick<Announcer, 'publish'>;
  readonly journal: Records;
}
