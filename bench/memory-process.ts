import * as z from 'zod';
import { ManualClock } from '../test/scaffold/clock.ts';
import { input, report, tickerInput } from './child.ts';
import { timeoutSeconds } from './settings.ts';
import { createTicker } from './ticker.ts';

/** A tick, or ticks until a baseline is completed; reports the memory and the time. */
const { job, now, requestMs, ...parts } = input(
  tickerInput.extend({ job: z.enum(['baseline', 'tick']), requestMs: z.number().default(0) }),
);

let peak = 0;
const look = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
const clock = new ManualClock(now);
const ticker = createTicker({ ...parts, clock, requestMs, onRequest: look });
const { ledger, meter, warnings } = ticker;
for (const client of [meter.dynamodb, meter.sns])
  client.middlewareStack.add(
    (next) => (call) => {
      look();
      return next(call);
    },
    { step: 'initialize' },
  );

/** A tick has the deployed time-out. Without requests the clock stands still, so one tick delivers everything. */
async function tick(): Promise<void> {
  const { undelivered } = await ticker.tick();
  look();
  if (undelivered > 0) warnings.push(`${undelivered} undelivered within ${timeoutSeconds} s`);
}

/** The schedule starts a tick a minute after the one before, which has run until its time-out. */
async function completeBaseline(): Promise<number> {
  for (let ticks = 1; ; ticks++) {
    const began = clock.now();
    await tick();
    if ((await ledger.state()).baseline.status === 'completed') return ticks;
    clock.advance(clock.now().until(began.add({ seconds: timeoutSeconds + 5 })));
  }
}

look();
const idleBytes = peak;
const ticks = job === 'baseline' ? await completeBaseline() : await tick().then(() => 1);
const { user, system } = process.cpuUsage();
report({
  ...{ ticks, warnings, idleBytes, peakBytes: peak },
  processorMs: (user + system) / 1_000,
  now: clock.now().toString(),
  consumption: meter.take(),
});
// A program that only watches this one reads its output.
if (!process.send) for (const warning of warnings) console.log(warning);
await ticker.close();
process.disconnect?.();
