import { randomUUID } from 'node:crypto';
import { snsAnnouncer, type TopicArns } from '../lambda/delivery/sns-announcer.ts';
import { dynamoLedger } from '../lambda/ledger/dynamo-ledger.ts';
import { Table } from '../lambda/ledger/table.ts';
import { createPartnerClient } from '../lambda/partner/client.ts';
import { partnerReader } from '../lambda/partner/reader.ts';
import type { TickParts } from '../lambda/tick/parts.ts';
import type { TickReport } from '../lambda/tick/report.ts';
import { tick } from '../lambda/tick/tick.ts';
import type { ManualClock } from '../test/scaffold/clock.ts';
import type { AwsReady, PartnerReady } from './child.ts';
import { Meter } from './meter.ts';
import { settings, timeoutSeconds } from './settings.ts';

export interface TickerOptions {
  readonly partner: PartnerReady;
  readonly aws: AwsReady;
  /** Separates the ledgers of different worlds. */
  readonly world: string;
  readonly clock: ManualClock;
  readonly topics: TopicArns;
  /** The duration of a request to the partner; without requests, the clock stands still. */
  readonly requestMs?: number;
  readonly onRequest?: () => void;
  readonly holdAbove?: number;
  /** Minutes between two ticks, as they are scheduled. */
  readonly every?: number;
}

export type Ticker = ReturnType<typeof createTicker>;

/** The tick with its real parts, wired as in lambda/poll.ts, under a clock that can be set. */
export function createTicker(options: TickerOptions) {
  const { partner, clock, aws, topics, world, requestMs = 0 } = options;
  const { holdAbove = settings.holdAbove, every = settings.every } = options;
  const meter = new Meter(aws);
  /** Warnings of ticks; there should be none. */
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
  const journal = { warn: (what: string) => void warnings.push(what) };
  const ledger = dynamoLedger(new Table(meter.dynamodb, aws.table, clock), world, journal);
  const parts: TickParts = {
    settings: { ...settings, name: world, holdAbove, every },
    clock,
    partner: partnerReader(client),
    ledger,
    announcer: snsAnnouncer({ mails: meter.sns, batches: meter.sns }, topics, {
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
    ...{ ledger, client, meter, warnings },
    tick: (): Promise<TickReport> =>
      tick(parts, { id: randomUUID(), deadline: clock.now().add({ seconds: timeoutSeconds }) }),
    async close(): Promise<void> {
      await client.close();
      meter.close();
    },
  };
}
