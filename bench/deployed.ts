import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type * as z from 'zod';
import { bundleOptions } from '../infra/bundling/options.ts';
import { startChild } from './child.ts';

/** The function's memory, see infra/constructs/integration.ts. */
const functionMegabytes = 512;
/** As Lambda's nodejs24.x bootstrap sets them: 5 % for the young generation, 90 % for the old one. */
export const heapOptions = [
  `--max-semi-space-size=${Math.floor(functionMegabytes * 0.05)}`,
  `--max-old-space-size=${Math.floor(functionMegabytes * 0.9)}`,
];

/** Removes itself at the end. */
export const temporaryFolder = () =>
  mkdtempDisposable(join(tmpdir(), 'certification-notifier-bench-'));

/** A program of this folder as one file, made as the stack makes a function. */
export async function bundled(folder: string, program: string): Promise<string> {
  const outfile = join(folder, program.replace(/\.ts$/, '.mjs'));
  const entry = fileURLToPath(new URL(program, import.meta.url));
  await build({ ...bundleOptions, entryPoints: [entry], outfile });
  return outfile;
}

/** Runs a program of this folder, made as the stack makes the function, with the heap that Lambda gives it. */
export async function runDeployed<Told>(
  program: string,
  input: unknown,
  told: z.ZodType<Told>,
): Promise<Told> {
  await using folder = await temporaryFolder();
  const { href } = pathToFileURL(await bundled(folder.path, program));
  const child = await startChild(href, input, told, heapOptions);
  await child.stop();
  return child.ready;
}
