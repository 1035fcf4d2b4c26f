import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const program = fileURLToPath(new URL('measure.py', import.meta.url));
const usage = z.object({ processorSeconds: z.number(), peakBytes: z.number() });

/** The consumption of a process and of its children. */
export type Usage = z.output<typeof usage>;

export type Ended = Usage | 'killed' | 'failed';

export interface Wanted {
  /** Any Python, for the measuring program. */
  readonly python: string;
  /** The folder for the figures. */
  readonly folder: string;
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** After this time the process is killed, and counts as failed. */
  readonly limitMs?: number;
}

const tenMinutes = 600_000;

/** A process in its own group, which can be killed as by a loss of power. */
export interface MeasuredProcess {
  /** The lines of its standard output, as they come. */
  readonly lines: AsyncIterable<string>;
  /** After a failure, its standard error is shown. */
  readonly ended: Promise<Ended>;
  /** @returns whether the process was still running */
  kill(): boolean;
}

export function startMeasured(wanted: Wanted): MeasuredProcess {
  const { python, folder, command, variables, limitMs = tenMinutes } = wanted;
  const file = join(folder, 'usage.json');
  const child = spawn(python, [program, file, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: variables,
  });
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors.push(text);
    if (errors.length > 200) errors.shift();
  });
  const kill = () => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
      return false;
    process.kill(-child.pid, 'SIGKILL');
    return true;
  };
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = kill();
  }, limitMs);
  // The first handler at the exit, since a running process keeps its folder from being removed.
  process.prependOnceListener('exit', kill);
  const ended = once(child, 'close').then(async ([code, signal]): Promise<Ended> => {
    clearTimeout(limit);
    process.off('exit', kill);
    if (isLate) console.error(`${command[0]} was at work after ${limitMs} ms, and was killed`);
    if (signal !== null) return isLate ? 'failed' : 'killed';
    if (code !== 0) {
      console.error(`${command[0]} ended with ${String(code)}: ${errors.join('').slice(-2_000)}`);
      return 'failed';
    }
    return usage.parse(JSON.parse(await readFile(file, 'utf8')));
  });
  return { lines: createInterface({ input: child.stdout }), ended, kill };
}
