import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, stat } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import * as z from 'zod';
import { bundleOptions } from '../infra/bundling/options.ts';
import { startChild } from './child.ts';

/** The function's memory, see infra/constructs/integration.ts. */
const functionMegabytes = 512;
/** As Lambda's nodejs24.x bootstrap sets them: 5 % for the young generation, 90 % for the old one. */
export const heapOptions = [
  `--max-semi-space-size=${Math.floor(functionMegabytes * 0.05)}`,
  `--max-old-space-size=${Math.floor(functionMegabytes * 0.9)}`,
];

export const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);

export const medianOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Removes the folder at the end, also if the process exits earlier. */
export async function inTemporaryFolder<Result>(
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'certification-notifier-bench-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  try {
    return await use(folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** At a signal, Node ends without the event `exit`, whose handlers end processes and remove folders. */
export function endBySignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(130));
}

export interface BundleFile {
  readonly url: string;
  readonly bytes: number;
}

/** One file, made as the stack makes a function, apart from these changes. */
export async function bundled(folder: string, changes: BuildOptions): Promise<BundleFile> {
  const outfile = join(folder, `${randomUUID()}.mjs`);
  await build({ ...bundleOptions, ...changes, outfile });
  return { url: pathToFileURL(outfile).href, bytes: (await stat(outfile)).size };
}

export const root = fileURLToPath(new URL('..', import.meta.url));
export const pollFunction = { entryPoints: [join(root, 'lambda/poll.ts')] };

/** Begins a program of this folder, made as the stack makes the function, with the heap that Lambda gives it. */
export async function startDeployed<Ready>(
  program: string,
  input: unknown,
  ready: z.ZodType<Ready>,
): Promise<Ready> {
  return await inTemporaryFolder(async (folder) => {
    const { url } = await bundled(folder, { entryPoints: [join(root, 'bench', program)] });
    const child = await startChild(url, input, ready, heapOptions);
    await child.stop();
    return child.ready;
  });
}

const environmentSchema = z.object({
  /** The import alone. */
  importMs: z.number(),
  importedBytes: z.number(),
  /** Resident memory after the last tick. */
  bytes: z.number(),
  ticks: z.array(z.object({ outcome: z.string(), requests: z.int() })),
});

/** In JavaScript, since stripping TypeScript's types would be measured, too. */
const environmentProgram = `
  const [url, ticks] = process.argv.slice(1);
  const began = performance.now();
  const { handler } = await import(url);
  const importMs = performance.now() - began;
  const importedBytes = process.memoryUsage.rss();
  const told = [];
  for (let tick = 0; tick < Number(ticks); tick++) {
    const awsRequestId = crypto.randomUUID();
    const { outcome, requests } = await handler({}, { awsRequestId, getRemainingTimeInMillis: () => 55_000 });
    told.push({ outcome, requests });
  }
  process.send({ importMs, importedBytes, bytes: process.memoryUsage.rss(), ticks: told });
  process.disconnect();`;

/**
 * A bundle in a fresh process, as in a new execution environment: the cost of its import, and of so many ticks.
 * Lambda's own runtime client is not included.
 *
 * @param variables the whole environment of the process, besides Lambda's own variables
 */
export async function inFreshProcess(
  { url }: BundleFile,
  ticks: number,
  variables: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
): Promise<z.output<typeof environmentSchema>> {
  const args = ['--input-type=module', '--eval', environmentProgram, url, String(ticks)];
  const child = spawn(process.execPath, [...nodeOptions, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_CONFIG_FILE: devNull,
      AWS_SHARED_CREDENTIALS_FILE: devNull,
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_LAMBDA_FUNCTION_NAME: 'poll',
      ...variables,
    },
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the process ended with ${String(code)} before it had told anything`);
  });
  const [message]: unknown[] = await Promise.race([once(child, 'message'), ended]);
  child.kill();
  return environmentSchema.parse(message);
}

/** The median time of the import in milliseconds, for each bundle; they are imported in turn. */
export async function importTimes(
  bundles: readonly BundleFile[],
  runs: number,
  variables: Readonly<Record<string, string>>,
): Promise<number[]> {
  const times = bundles.map((): number[] => []);
  for (let run = 0; run < runs; run++)
    for (const [index, bundle] of bundles.entries())
      times[index]?.push((await inFreshProcess(bundle, 0, variables)).importMs);
  return times.map(medianOf);
}
