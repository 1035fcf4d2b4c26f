import { setTimeout } from 'node:timers/promises';
import { PublishCommand } from '@aws-sdk/client-sns';
import * as z from 'zod';
import { messageOf } from '../lambda/events/sns-message.ts';
import { ManualClock } from '../test/scaffold/clock.ts';
import { input, report, tickerInput } from './child.ts';
import { timeoutSeconds } from './settings.ts';
import { createTicker } from './ticker.ts';

/** Ticks until a baseline is completed, or the delivery of an outbox; reports the memory and the time. */
const { job, now, requestMs, ...parts } = input(
  tickerInput.extend({
    job: z.enum(['baseline', 'outbox', 'outbox, one by one']),
    requestMs: z.number().default(0),
  }),
);

let peak = 0;
const look = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
const clock = new ManualClock(now);
const ticker = createTicker({ ...parts, clock, requestMs, onRequest: look });
const { ledger, meter, warnings } = ticker;
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
  { step: 'initialize' },
);
for (const client of [meter.dynamodb, meter.sns])
  client.middlewareStack.add(
    (next) => (call) => {
      look();
      return next(call);
    },
    { step: 'initialize' },
  );

/** Without batches: publishes one event after the other, and settles each. */
async function deliverOneByOne(): Promise<number> {
  for await (const { owed } of ledger.leftovers('event'))
    for (const one of owed) {
      const Message = JSON.stringify(one.event);
      const MessageAttributes = messageOf(one.event).attributes;
      const TopicArn = parts.topics.events;
      await meter.sns.send(new PublishCommand({ TopicArn, Message, MessageAttributes }));
      await ledger.settle([one], 'nothing');
    }
  return 0;
}

/** A tick has the deployed time-out. The clock stands still, so one tick delivers everything. */
async function deliver(): Promise<number> {
  const { undelivered } = await ticker.tick();
  if (undelivered > 0) warnings.push(`${undelivered} undelivered within ${timeoutSeconds} s`);
  return 1;
}

/** The schedule starts a tick a minute after the one before, which has run until its time-out. */
async function completeBaseline(): Promise<number> {
  for (let ticks = 1; ; ticks++) {
    const began = clock.now();
    await ticker.tick();
    look();
    if ((await ledger.state()).baseline.status === 'completed') return ticks;
    clock.advance(clock.now().until(began.add({ seconds: timeoutSeconds + 5 })));
  }
}

look();
const idle = peak;
const began = performance.now();
const jobs = { baseline: completeBaseline, outbox: deliver, 'outbox, one by one': deliverOneByOne };
const ticks = await jobs[job]();
const ms = performance.now() - began;
look();
const { user, system } = process.cpuUsage();
report({
  ...{ ticks, ms, snsMs, warnings, idleBytes: idle, peakBytes: peak },
  processorMs: (user + system) / 1_000,
  now: clock.now().toString(),
  consumption: meter.take(),
});
// A program that only watches this one reads its output.
if (!process.send) for (const warning of warnings) console.log(warning);
await ticker.close();
process.disconnect?.();
