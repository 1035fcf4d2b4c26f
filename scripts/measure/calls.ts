import { type Profiler, Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Calls {
  /** `file function`, sorted; those without a name belong to the one that they stand in. */
  readonly functions: readonly string[];
  readonly files: readonly string[];
}

/** Functions of a folder that V8 counts while something runs; calls while a module is loaded are not counted. */
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
        // Of an argument without a name V8 says where it stands: `pMap.concurrency`.
        .filter(({ functionName }) => functionName !== '' && !functionName.includes('.'))
        .filter(({ ranges: [range] }) => (range?.count ?? 0) > 0)
        .map(({ functionName }) => `${file} ${functionName}`)
    );
  });
  const files = new Set(functions.map((name) => name.split(' ')[0] ?? ''));
  return { functions: functions.sort(), files: [...files].sort() };
}
