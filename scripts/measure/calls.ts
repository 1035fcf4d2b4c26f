import { type Profiler, Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Calls {
  /** `file function`, sorted. A function without a name belongs to the one around it. */
  readonly functions: readonly string[];
  readonly files: readonly string[];
}

/** The functions of a folder that V8 counts during a run, without calls while a module is loaded. */
export async function callsDuring(folder: string, run: () => Promise<unknown>): Promise<Calls> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await run();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return callsIn(folder, result);
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

function callsIn(folder: string, scripts: readonly Profiler.ScriptCoverage[]): Calls {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const functions = scripts.flatMap(({ url, functions }) => {
    if (!url.startsWith('file:')) return [];
    const file = relative(root, fileURLToPath(url));
    if (!file.startsWith(`${folder}/`)) return [];
    return (
      functions
        // For an argument without a name, V8 gives its place: `pMap.concurrency`.
        .filter(({ functionName }) => functionName !== '' && !functionName.includes('.'))
        .filter(({ ranges: [range] }) => (range?.count ?? 0) > 0)
        .map(({ functionName }) => `${file} ${functionName}`)
    );
  });
  const files = new Set(functions.map((name) => name.split(' ')[0] ?? ''));
  return { functions: functions.sort(), files: [...files].sort() };
}
