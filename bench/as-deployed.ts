import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** The function's memory, see infra/constructs/integration.ts. */
const functionMegabytes = 512;
/** As Lambda's nodejs24.x bootstrap sets them: 5 % for the young generation, 90 % for the old. */
export const heapOptions = [
  `--max-semi-space-size=${Math.floor(functionMegabytes * 0.05)}`,
  `--max-old-space-size=${Math.floor(functionMegabytes * 0.9)}`,
];

/** A program of this folder as one file, made as infra/constructs/integration.ts makes the function. */
export async function asDeployed<Result>(
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
