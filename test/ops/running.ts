import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { InterruptedError } from '../../ops/errors.ts';
import type { Environment, HostInput } from '../../ops/host.ts';
import { run } from '../../ops/run.ts';
import { compileCache } from '../support/compile-cache.ts';

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions extends Partial<Pick<HostInput, 'clock' | 'aws'>> {
  readonly environment?: Environment;
  /** Whether its streams are a terminal. */
  readonly isTTY?: boolean;
  readonly output?: Screen;
}

/** The program in this process: what somebody sees of it, and does to it. */
export class Running {
  readonly input: PassThrough & { readonly isTTY?: boolean };
  readonly output: Screen;
  readonly errors: Screen;
  readonly ended: Promise<Ended>;
  readonly #stopping = new AbortController();

  constructor(args: string, options: RunOptions = {}) {
    const { environment = {}, isTTY = false, output = new Screen(isTTY), ...parts } = options;
    this.input = Object.assign(new PassThrough(), { isTTY });
    this.output = output;
    this.errors = new Screen(isTTY);
    this.ended = this.#run(args, {
      streams: this,
      environment,
      timeZone: environment.TZ ?? 'UTC',
      stopping: this.#stopping,
      ...parts,
    });
  }

  async #run(args: string, host: HostInput): Promise<Ended> {
    const exitCode = await run(args.split(' ').filter(Boolean), host);
    return { exitCode, stdout: this.output.text, stderr: this.errors.text };
  }

  /** Presses Ctrl-C. */
  interrupt(): void {
    this.#stopping.abort(new InterruptedError());
  }

  /** Settles once this is to be read. @throws when it ends without */
  async shows(pattern: RegExp): Promise<void> {
    const early = this.ended.then((ended) => {
      if (!pattern.test(ended.stdout + ended.stderr))
        throw new Error(`ended before ${pattern}: ${JSON.stringify(ended)}`);
    });
    await Promise.race([this.output.shows(pattern), this.errors.shows(pattern), early]);
  }
}

/** Where it writes. */
export class Screen extends Writable {
  readonly isTTY: boolean;
  columns = 200;
  text = '';
  #awaited: { readonly pattern: RegExp; readonly seen: () => void }[] = [];

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    for (const { pattern, seen } of this.#awaited) if (pattern.test(this.text)) seen();
    done();
  }

  shows(pattern: RegExp): Promise<void> {
    if (pattern.test(this.text)) return Promise.resolve();
    return new Promise((seen) => this.#awaited.push({ pattern, seen }));
  }
}

const entry = fileURLToPath(new URL('../../ops/cli.ts', import.meta.url));

/** The program as a process of its own, with this environment and no other. */
export function startProgram(args: string, env: Environment = {}) {
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
