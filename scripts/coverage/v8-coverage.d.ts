/** The package has no types. */
declare module '@bcoe/v8-coverage' {
  import type { Profiler } from 'node:inspector';
  /** Merges the counts of one script in several processes; undefined for none. */
  export function mergeScriptCovs(
    scripts: readonly Profiler.ScriptCoverage[],
  ): Profiler.ScriptCoverage | undefined;
}
