import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SNSClient } from '@aws-sdk/client-sns';
import { snsAnnouncer, type TopicArns } from '../lambda/delivery/sns-announcer.ts';
import { dynamoLedger } from '../lambda/ledger/dynamo-ledger.ts';
import { Table } from '../lambda/ledger/table.ts';
import { createPartnerClient, type PartnerClient } from '../lambda/partner/client.ts';
import { partnerReader } from '../lambda/partner/reader.ts';
import type { Journal } from '../lambda/ports/journal.ts';
import type { Ledger } from '../lambda/ports/ledger.ts';
import type { TickParts } from '../lambda/tick/parts.ts';
import type { TickReport } from '../lambda/tick/report.ts';
import { tick } from '../lambda/tick/tick.ts';
import type { ManualClock } from '../test/scaffold/clock.ts';
import type { PartnerReady } from './child.ts';
import { settings, timeoutSeconds } from './settings.ts';

export interface TickerOptions {
  readonly partner: PartnerReady;
  /** Separates the ledgers of different worlds. */
  readonly world: string;
  readonly clock: ManualClock;
  readonly dynamodb: DynamoDBClient;
  readonly sns: SNSClient;
  readonly table: string;
  readonly topics: TopicArns;
  /** The duration of a request to the partner; without requests, the clock stands still. */
  readonly requestMs?: number;
  readonly onRequest?: () => void;
  readonly holdAbove?: number;
}

export interface Ticker {
  readonly ledger: Ledger;
  readonly client: PartnerClient;
  /** Warnings of ticks; there should be none. */
  readonly warnings: readonly string[];
  tick(): Promise<TickReport>;
  close(): Promise<void>;
}

/** The tick with its real parts, wired as in lambda/poll.ts, under a clock that can be set. */
export function createTicker(options: TickerOptions): Ticker {
  const { partner, clock, dynamodb, sns, table, topics, world, requestMs = 0 } = options;
  const { holdAbove = settings.holdAbove } = options;
  const warnings: string[] = [];
  let requests = 0;
  const client = createPartnerClient({
    baseUrl: partner.url,
    credentials: async () => partner.credentials,
    clock,
    onRequest: () => {
      requests += 1;
      clock.advance({ milliseconds: requestMs });
      options.onRequest?.();
    },
  });
  const journal: Journal = { warn: (what) => void warnings.push(what) };
  const ledger = dynamoLedger(new Table(dynamodb, table, clock), world, journal);
  const parts: TickParts = {
    settings: { ...settings, name: world, holdAbove },
    clock,
    partner: partnerReader(client),
    ledger,
    announcer: snsAnnouncer({ mails: sns, batches: sns }, topics, {
      ...{ integration: world, timeZone: settings.timeZone, stack: settings.stack, clock },
      ...settings.alerts,
    }),
    journal,
    measure: () => {
      const before = requests;
      return () => ({ requests: requests - before, durationMs: 0 });
    },
  };
  return {
    ledger,
    client,
    warnings,
    tick: () =>
      tick(parts, { id: randomUUID(), deadline: clock.now().add({ seconds: timeoutSeconds }) }),
    close: () => client.close(),
  };
}
