import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { EnvironmentVariables } from '../../ops/host.ts';
import { run } from '../../ops/run.ts';
import { compileCache } from '../support/compile-cache.ts';
import { type Ended, RunningProgram, type RunOptions } from '../support/running.ts';

/** The command line in this process. */
export class Running extends RunningProgram {
  constructor(args: string, options?: RunOptions) {
    super(run, args.split(' ').filter(Boolean), options);
  }
}

const entry = fileURLToPath(new URL('../../ops/cli.ts', import.meta.url));

/** The program as a separate process, with this environment and no other. */
export function startProgram(args: string, env: EnvironmentVariables = {}) {
  return spawn(process.execPath, [entry, ...args.split(' ').filter(Boolean)], {
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: compileCache, ...env },
  });
}

export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined,
  ]);
  return { exitCode: child.exitCode, stdout, stderr };
}
