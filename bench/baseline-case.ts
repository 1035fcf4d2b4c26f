import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
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
/** A smaller history has too few pages to spread the first, short slices over. */
const fromRecords = 100_000;
/** What garbage collection makes of chance. */
const mostGrowth = 1.1;

/** The function's memory, see infra/constructs/integration.ts. */
const functionMegabytes = 512;
/** As Lambda's nodejs24.x bootstrap sets them: 5 % for the young generation, 90 % for the old. */
const heapOptions = [
  `--max-semi-space-size=${Math.floor(functionMegabytes * 0.05)}`,
  `--max-old-space-size=${Math.floor(functionMegabytes * 0.9)}`,
];

/**
 * The baseline of an arena's world, by ticks that run in a process of their own: bundled like the
 * function, because the sources' loader takes 40 MB, and with the heap that Lambda gives it.
 *
 * @param smaller the same for a smaller history: memory must not grow with it
 */
export async function baseline(
  arena: Arena,
  aws: AwsReady,
  records: number,
  smaller?: Row,
): Promise<Row> {
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
  const isSparing = overMinimum <= mostOverMinimum || records < fromRecords;
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
      ticks: ready.ticks,
      warnings: ready.warnings.length,
    },
    target: {
      text: [
        ...(records < fromRecords ? [] : [`≤ ${mostOverMinimum} × the minimum`]),
        `≤ ${mostMegabytes} MB`,
        ...(smaller ? ['not growing'] : []),
      ].join(', '),
      passed: isSparing && isSmall,
    },
  };
}

/** A program of this folder as one file, made as infra/constructs/integration.ts makes the function. */
async function asDeployed<Result>(
  program: string,
  use: (bundle: string) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'certification-notifier-bench-'));
  try {
    const outfile = join(directory, 'index.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL(program, import.meta.url))],
      outfile,
      bundle: true,
      minify: true,
      keepNames: true,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      mainFields: ['module', 'main'],
      banner: {
        js: "import{createRequire as createRequireHere}from'node:module';const require=createRequireHere(import.meta.url);",
      },
      logLevel: 'error',
    });
    return await use(pathToFileURL(outfile).href);
  } finally {
    await rm(directory, { recursive: true });
  }
}
