import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const program = fileURLToPath(new URL('measure.py', import.meta.url));
const usage = z.object({ processorSeconds: z.number(), peakBytes: z.number() });

/** What a process and those that it started consumed. */
export type Usage = z.output<typeof usage>;

export type Ended = Usage | 'killed' | 'failed';

export interface Wanted {
  /** Any Python: it measures. */
  readonly python: string;
  /** Where the figures are put. */
  readonly folder: string;
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** A process in a group of its own, that can be killed as a machine that loses its power kills it. */
export interface MeasuredProcess {
  /** The lines of its standard output, as they come. */
  readonly lines: AsyncIterable<string>;
  /** What it wrote to its standard error is shown when it failed. */
  readonly ended: Promise<Ended>;
  /** @returns whether it was still at work */
  kill(): boolean;
}

export function startMeasured({ python, folder, command, variables }: Wanted): MeasuredProcess {
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
  process.once('exit', kill);
  const ended = once(child, 'close').then(async ([code, signal]): Promise<Ended> => {
    process.off('exit', kill);
    if (signal !== null) return 'killed';
    if (code !== 0) {
      console.error(`${command[0]} ended with ${String(code)}: ${errors.join('').slice(-2_000)}`);
      return 'failed';
    }
    return usage.parse(JSON.parse(await readFile(file, 'utf8')));
  });
  return { lines: createInterface({ input: child.stdout }), ended, kill };
}
