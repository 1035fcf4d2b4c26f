import { readdirSync, readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { stripTypeScriptTypes } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CoverageFile, CoverageReport } from 'monocart-coverage-reports';

const folders = ['lambda', 'consumer', 'ops', 'infra', 'local'];

/**
 * The lines and branches of all sources with their counts, also of sources that never ran. To be called in the project's folder.
 *
 * @param counts the folder to which the processes have written
 * @param outputDir of the pages
 */
export async function coveredFiles(counts: string, outputDir: string): Promise<CoverageFile[]> {
  const report = new CoverageReport({
    name: 'certification-notifier',
    outputDir,
    cleanCache: true,
    logging: 'error',
    reports: 'v8',
    all: {
      dir: folders,
      filter: (path) => isOurs(relative('', path)),
      transformer: async (entry) => {
        entry.source = asNodeRunsIt(entry.url);
      },
    },
  });
  for (const name of readdirSync(counts)) {
    const entries = scriptsIn(join(counts, name)).flatMap((script) => {
      const source = sourceOf(script);
      return source ? [{ ...script, ...source }] : [];
    });
    if (entries.length > 0) await report.add(entries);
  }
  return (await report.generate())?.files ?? [];
}

function isOurs(path: string): boolean {
  return /\.(ts|mjs)$/.test(path) && folders.some((folder) => path.startsWith(`${folder}/`));
}

const sources = new Map<string, string>();

/** With blanks in place of types: everything else has its place, in all processes. */
function asNodeRunsIt(url: string): string {
  const known = sources.get(url);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(url), 'utf8');
  const source = url.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  sources.set(url, source);
  return source;
}

/** None if the process was killed while it wrote. */
function scriptsIn(file: string): Profiler.ScriptCoverage[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).result;
  } catch {
    return [];
  }
}

/** Undefined for other scripts, and if the text was another one when it ran. */
function sourceOf(script: Profiler.ScriptCoverage) {
  // The tests import a module that they may replace under another name.
  const url = script.url.replace('?real', '');
  if (!url.startsWith('file:') || !isOurs(relative('', fileURLToPath(url)))) return undefined;
  const source = asNodeRunsIt(url);
  // Node adds a line with the URL.
  const added = url.endsWith('.ts') ? `\n\n//# sourceURL=${script.url}`.length : 0;
  const length = script.functions[0]?.ranges[0]?.endOffset;
  return source.length + added === length ? { url, source } : undefined;
}
