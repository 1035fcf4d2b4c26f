import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './options.ts';

/*
 * node infra/bundling/program.ts <entry> <folder of the asset> <file for the source map>
 *
 * A program by itself because the CDK wants its bundle at once, and esbuild's plugins take a moment.
 */

const [entry = '', folder = '', sourceMap = ''] = process.argv.slice(2);
const outfile = join(folder, 'index.mjs');
// Without a word about it in the code: Node would look for the map at every start.
await build({
  ...bundleOptions,
  entryPoints: [entry],
  outfile,
  sourcemap: 'external',
  sourcesContent: false,
});
mkdirSync(dirname(sourceMap), { recursive: true });
renameSync(`${outfile}.map`, sourceMap);
