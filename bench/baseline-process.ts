import * as z from 'zod';
import { ManualClock } from '../test/scaffold/clock.ts';
import { awsReady, input, partnerReady, report } from './child.ts';
import { Meter } from './meter.ts';
import { now, timeoutSeconds } from './settings.ts';
import { createTicker } from './ticker.ts';

/** Ticks until the baseline is completed, in a process of their own; reports the memory. */
const { partner, aws, world, topics, requestMs } = input(
  z.object({
    partner: partnerReady,
    aws: awsReady,
    world: z.string(),
    topics: z.object({ events: z.string(), alerts: z.string(), operations: z.string() }),
    requestMs: z.number(),
  }),
);

let peak = 0;
const look = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
const started = performance.now();
const meter = new Meter(aws);
const clock = new ManualClock(now);
const { dynamodb, sns } = meter;
const ticker = createTicker({
  partner,
  world,
  clock,
  dynamodb,
  sns,
  table: aws.table,
  topics,
  requestMs,
  onRequest: look,
});
look();
const idle = peak;
let ticks = 0;
for (;;) {
  const began = clock.now();
  await ticker.tick();
  ticks += 1;
  look();
  if ((await ticker.ledger.state()).baseline.status === 'completed') break;
  // The schedule starts the next tick a minute after this one, which has run until its time-out.
  const nextAt = began.add({ seconds: timeoutSeconds + 5 });
  clock.advance(clock.now().until(nextAt));
}
const { user, system } = process.cpuUsage();
report({
  ticks,
  idleBytes: idle,
  peakBytes: peak,
  ms: performance.now() - started,
  processorMs: (user + system) / 1_000,
  now: clock.now().toString(),
  consumption: meter.take(),
  warnings: ticker.warnings,
});
await ticker.close();
meter.close();
process.disconnect?.();
