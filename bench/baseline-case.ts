import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import type { Arena } from './arena.ts';
import { type AwsReady, startChild } from './child.ts';
import type { Row } from './score.ts';

const outcome = z.object({
  ticks: z.int(),
  idleBytes: z.number(),
  peakBytes: z.number(),
  ms: z.number(),
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
/** What a request to a partner on the internet takes; it decides how many ticks a baseline needs. */
const requestMs = 200;
const mostMegabytes = 200;
const mostOverMinimum = 1.15;

/** The baseline of an arena's world, by ticks that run in a process of their own. */
export async function baseline(arena: Arena, aws: AwsReady, records: number): Promise<Row> {
  await arena.control('DELETE', '/requests');
  const child = await startChild(
    'baseline-process.ts',
    { partner: arena.partner, aws, world: arena.name, topics: arena.topics, requestMs },
    outcome,
  );
  await child.stop();
  const { ready } = child;
  arena.clock.advance(arena.clock.now().until(Temporal.Instant.from(ready.now)));
  const requests = await arena.requests();
  const overMinimum = requests / Math.ceil(records / 100);
  const peak = megabytes(ready.peakBytes);
  return {
    case: `baseline of ${records.toLocaleString('en')}`,
    contender: 'ours',
    measured: { ...ready.consumption, requests, ms: ready.ms },
    further: {
      'requests over the minimum': Number(overMinimum.toFixed(3)),
      'peak MB': peak,
      'MB at start': megabytes(ready.idleBytes),
      ticks: ready.ticks,
      warnings: ready.warnings.length,
    },
    target: {
      text: `≤ ${mostOverMinimum} × the minimum, ≤ ${mostMegabytes} MB`,
      passed: overMinimum <= mostOverMinimum && peak <= mostMegabytes,
    },
  };
}
