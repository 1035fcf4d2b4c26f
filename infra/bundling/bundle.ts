import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './options.ts';

/**
 * Makes `index.mjs` in a folder. It must run in the project's folder, since the paths in the map are relative to that:
 * the folder of the asset is renamed later.
 *
 * @param mapFile where the source map goes
 * @returns the files that the bundle has parts of, our own among them
 */
export async function bundle(entry: string, folder: string, mapFile: string): Promise<string[]> {
  const outfile = join(folder, 'index.mjs');
  // `external`: the code does not name its map, which Node would otherwise load at every start.
  const { metafile } = await build({
    ...bundleOptions,
    entryPoints: [entry],
    outfile,
    metafile: true,
    sourcemap: 'external',
    sourcesContent: false,
  });
  const map = JSON.parse(readFileSync(`${outfile}.map`, 'utf8'));
  rmSync(`${outfile}.map`);
  const sources = map.sources.map((source: string) =>
    relative(process.cwd(), resolve(folder, source)).replaceAll(sep, '/'),
  );
  mkdirSync(dirname(mapFile), { recursive: true });
  writeFileSync(mapFile, JSON.stringify({ ...map, sources }));
  return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
}
