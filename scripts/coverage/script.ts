import type { Profiler } from 'node:inspector';
import { mergeScriptCovs } from '@bcoe/v8-coverage';

/** V8's counts of a script in a process. */
export type Script = Profiler.ScriptCoverage;
export type Functions = Script['functions'];

/** The length of the script's text. */
export function lengthOf(script: Script): number {
  return script.functions[0]?.ranges[0]?.endOffset ?? 0;
}

/** The counts of one script in two processes, together. */
export function merged(earlier: Script | undefined, script: Script): Script {
  return (earlier && mergeScriptCovs([earlier, script])) ?? script;
}
