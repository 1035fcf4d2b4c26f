import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bundleOptions } from '../infra/bundling/options.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** The function's memory, see infra/constructs/integration.ts. */
const functionMegabytes = 512;
/** As Lambda's nodejs24.x bootstrap sets them: 5 % for the young generation, 90 % for the old one. */
export const heapOptions = [
  `--max-semi-space-size=${Math.floor(functionMegabytes * 0.05)}`,
  `--max-old-space-size=${Math.floor(functionMegabytes * 0.9)}`,
];

/** A program of this folder as one file, made as the stack makes the function. */
export async function asDeployed<Result>(
  program: string,
  use: (bundle: string) => Promise<Result>,
): Promise<Result> {
  return await inTemporaryFolder(async (folder) => {
    const outfile = join(folder, 'index.mjs');
    await build({
      ...bundleOptions,
      entryPoints: [fileURLToPath(new URL(program, import.meta.url))],
      outfile,
    });
    return await use(pathToFileURL(outfile).href);
  });
}
