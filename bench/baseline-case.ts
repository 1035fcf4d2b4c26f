import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import type { Arena } from './arena.ts';
import { asDeployed, heapOptions } from './as-deployed.ts';
import { type AwsReady, startChild } from './child.ts';
import type { ScoreRow } from './score.ts';

const outcome = z.object({
  ticks: z.int(),
  idleBytes: z.number(),
  peakBytes: z.number(),
  ms: z.number(),
  processorMs: z.number(),
  now: z.string(),
  consumption: z.object({
    readUnits: z.number(),
    writeUnits: z.number(),
    calls: z.record(z.string(), z.number()),
    publishes: z.number(),
  }),
  warnings: z.array(z.string()),
});

const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
/** The duration of a request to a partner on the internet. It decides how many ticks a baseline needs. */
const requestMs = 200;
const mostMegabytes = 200;
const mostOverMinimum = 1.15;
/**
 * A smaller history has too few pages: its short first ranges and the start of the process would distort the result.
 */
const fromRecords = 20_000;
/** About seven seconds for 20,000. */
const mostProcessorMsARecord = 0.35;
/** An allowance, since garbage collection varies. */
const mostGrowth = 1.1;

/**
 * The baseline of an arena's world, by ticks that run in a process of their own: bundled like the
 * function, because the sources' loader takes 40 MB, and with the heap that Lambda gives it.
 *
 * @param smaller the same for a smaller history: memory must not grow with it
 */
export async function baselineCase(
  arena: Arena,
  aws: AwsReady,
  records: number,
  smaller?: ScoreRow,
): Promise<ScoreRow> {
  await arena.control('DELETE', '/requests');
  const ready = await asDeployed('baseline-process.ts', async (bundle) => {
    const { partner, name: world, topics } = arena;
    const input = { partner, aws, world, topics, requestMs };
    const child = await startChild(bundle, input, outcome, heapOptions);
    await child.stop();
    return child.ready;
  });
  arena.clock.advance(arena.clock.now().until(Temporal.Instant.from(ready.now)));
  const requests = await arena.requests();
  const overMinimum = requests / Math.ceil(records / 100);
  const peak = megabytes(ready.peakBytes);
  const isFew = records < fromRecords;
  const isSparing = isFew || overMinimum <= mostOverMinimum;
  const isQuick = isFew || ready.processorMs <= records * mostProcessorMsARecord;
  const smallerPeak = smaller?.further?.['peak MB'] ?? peak;
  const isSmall = peak <= mostMegabytes && peak <= smallerPeak * mostGrowth;
  return {
    case: `baseline of ${records.toLocaleString('en')}`,
    contender: 'ours',
    measured: { ...ready.consumption, requests, ms: ready.ms },
    further: {
      'requests over the minimum': Number(overMinimum.toFixed(3)),
      'peak MB': peak,
      'MB at start': megabytes(ready.idleBytes),
      'processor s': Number((ready.processorMs / 1_000).toFixed(1)),
      ticks: ready.ticks,
      warnings: ready.warnings.length,
    },
    target: {
      text: [
        ...(isFew
          ? []
          : [
              `≤ ${mostOverMinimum} × the minimum`,
              `≤ ${mostProcessorMsARecord} ms of processor time a record`,
            ]),
        `≤ ${mostMegabytes} MB`,
        ...(smaller ? ['not growing'] : []),
      ].join(', '),
      passed: isSparing && isQuick && isSmall,
    },
  };
}
