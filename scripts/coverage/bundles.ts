import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eachMapping, TraceMap } from '@jridgewell/trace-mapping';
import { bundle } from '../../infra/bundling/bundle.ts';
import { functionNames } from '../../infra/bundling/options.ts';
import type { Functions, Script } from './script.ts';

/** A function's present bundle. */
export interface BundledFunction {
  readonly code: string;
  readonly map: TraceMap;
}

/** To be called in the project's folder. */
export async function bundlesNow(): Promise<readonly BundledFunction[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coverage-'));
  const mapFile = join(folder, 'map.json');
  try {
    const bundles: BundledFunction[] = [];
    for (const name of functionNames) {
      await bundle(`lambda/${name}.ts`, folder, mapFile);
      const code = readFileSync(join(folder, 'index.mjs'), 'utf8');
      bundles.push({ code, map: new TraceMap(readFileSync(mapFile, 'utf8')) });
    }
    return bundles;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The text before a token that has no entry of its own in a source map. */
const untold = /(?:[\s({[;:,=>?&|!.]|\b(?:return|throw|await|const|let|if|for|try|new|async))*$/;

/**
 * The counts of a bundle, as if they were counts of the sources. A token in the map has the count of its place in the
 * bundle, and so has the text directly before it. Other text has none, since the bundler may have left it out.
 *
 * @param codeOf the source of a path, as Node runs it; undefined for a path that does not count
 */
export function unbundled(
  { code, map }: BundledFunction,
  script: Script,
  codeOf: (path: string) => string | undefined,
): ReadonlyMap<string, Functions> {
  const counts = new Int32Array(code.length);
  // The outer ranges come first, so that the inner ones overwrite them.
  const ranges = script.functions
    .flatMap((counted) => counted.ranges)
    .sort((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset));
  for (const { startOffset, endOffset, count } of ranges)
    counts.fill(count, startOffset, endOffset);

  const lines = lineStarts(code);
  const linesOf = new Map<string, readonly number[]>();
  const found = new Map<string, Functions>();
  eachMapping(map, ({ source: path, originalLine, originalColumn, ...generated }) => {
    const source = path === null ? undefined : codeOf(path);
    if (path === null || source === undefined) return;
    const originalLines = linesOf.get(path) ?? lineStarts(source);
    linesOf.set(path, originalLines);
    const offset = (originalLines[originalLine - 1] ?? 0) + originalColumn;
    const before = untold.exec(source.slice(Math.max(0, offset - 200), offset))?.[0] ?? '';
    const startOffset = offset - before.length;
    const count =
      counts[(lines[generated.generatedLine - 1] ?? 0) + generated.generatedColumn] ?? 0;
    const functions = found.get(path) ?? [];
    functions.push({
      functionName: '',
      isBlockCoverage: true,
      ranges: [{ startOffset, endOffset: offset + 1, count }],
    });
    found.set(path, functions);
  });
  return found;
}

function lineStarts(code: string): readonly number[] {
  return [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)];
}
