import { setTimeout } from 'node:timers/promises';
import { PublishCommand } from '@aws-sdk/client-sns';
import * as z from 'zod';
import { messageOf } from '../lambda/events/sns-message.ts';
import { dynamoLedger } from '../lambda/ledger/dynamo-ledger.ts';
import { Table } from '../lambda/ledger/table.ts';
import { ManualClock } from '../test/scaffold/clock.ts';
import { awsReady, input, partnerReady, report } from './child.ts';
import { Meter } from './meter.ts';
import { timeoutSeconds } from './settings.ts';
import { createTicker } from './ticker.ts';

/** Delivers the events of an outbox, by one tick or by one Publish an event; reports the memory. */
const { contender, partner, aws, world, topics, now } = input(
  z.object({
    contender: z.enum(['ours', 'usual poller']),
    partner: partnerReady,
    aws: awsReady,
    world: z.string(),
    topics: z.object({ events: z.string(), alerts: z.string(), operations: z.string() }),
    now: z.string(),
  }),
);

const meter = new Meter(aws);
const clock = new ManualClock(now);
const warnings: string[] = [];
let peak = 0;
const look = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
/** The least duration of a request to a real SNS. */
const wayMs = 2;
/** The time in which at least one request to SNS was under way. */
let snsMs = 0;
let underWay = 0;
let since = 0;
meter.sns.middlewareStack.add(
  (next) => async (call) => {
    if (underWay === 0) since = performance.now();
    underWay += 1;
    try {
      await setTimeout(wayMs);
      return await next(call);
    } finally {
      underWay -= 1;
      if (underWay === 0) snsMs += performance.now() - since;
    }
  },
  { step: 'initialize', name: 'under way' },
);
for (const client of [meter.dynamodb, meter.sns])
  client.middlewareStack.add(
    (next) => (call) => {
      look();
      return next(call);
    },
    { step: 'initialize', name: 'look' },
  );

/** Without batches: publishes one event after the other, and settles each. */
async function oneByOne(): Promise<void> {
  const table = new Table(meter.dynamodb, aws.table, clock);
  const ledger = dynamoLedger(table, world, { warn: (what) => void warnings.push(what) });
  for await (const { owed } of ledger.leftovers('event'))
    for (const one of owed) {
      const Message = JSON.stringify(one.event);
      const MessageAttributes = messageOf(one.event).attributes;
      await meter.sns.send(
        new PublishCommand({ TopicArn: topics.events, Message, MessageAttributes }),
      );
      await ledger.settle([one], 'nothing');
    }
}

async function ours(): Promise<void> {
  const { dynamodb, sns } = meter;
  const ticker = createTicker({ partner, world, clock, dynamodb, sns, table: aws.table, topics });
  // Ticks with the deployed time-out. The clock stands still, so one tick delivers everything.
  const { undelivered } = await ticker.tick();
  if (undelivered > 0) warnings.push(`${undelivered} undelivered within ${timeoutSeconds} s`);
  warnings.push(...ticker.warnings);
  await ticker.close();
}

look();
const idle = peak;
const began = performance.now();
await (contender === 'ours' ? ours() : oneByOne());
const ms = performance.now() - began;
look();
report({ ms, snsMs, idleBytes: idle, peakBytes: peak, consumption: meter.take(), warnings });
meter.close();
process.disconnect?.();
