/** It comes without types. */
declare module '@bcoe/v8-coverage' {
  import type { Profiler } from 'node:inspector';
  /** Of one script in several processes; undefined of none. */
  export function mergeScriptCovs(
    scripts: readonly Profiler.ScriptCoverage[],
  ): Profiler.ScriptCoverage | undefined;
}
