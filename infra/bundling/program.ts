import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './options.ts';

/*
 * node infra/bundling/program.ts <entry> <folder of the asset> <file for the source map>
 *
 * Run in the project's folder. A program by itself because the CDK wants its bundle at once, and
 * esbuild's plugins take a moment.
 */

const [entry = '', folder = '', mapFile = ''] = process.argv.slice(2);
const outfile = join(folder, 'index.mjs');
// Without a word about it in the code: Node would load the map at every start.
await build({
  ...bundleOptions,
  entryPoints: [entry],
  outfile,
  sourcemap: 'external',
  sourcesContent: false,
});
const map = JSON.parse(readFileSync(`${outfile}.map`, 'utf8'));
rmSync(`${outfile}.map`);
// The asset's folder is renamed later: paths count from the project's.
const sources = map.sources.map((source: string) =>
  relative(process.cwd(), resolve(folder, source)).replaceAll(sep, '/'),
);
mkdirSync(dirname(mapFile), { recursive: true });
writeFileSync(mapFile, JSON.stringify({ ...map, sources }));
