import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { InterruptedError } from '../../ops/errors.ts';
import type { EnvironmentVariables, HostInput } from '../../ops/host.ts';

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program without its process. @returns the exit code */
type Program = (argv: readonly string[], host: HostInput) => Promise<number>;

export interface RunOptions extends Partial<Pick<HostInput, 'clock' | 'aws'>> {
  readonly environment?: EnvironmentVariables;
  /** Whether its streams are a terminal. */
  readonly isTTY?: boolean;
  readonly output?: Screen;
  readonly errors?: Screen;
}

/** A program in this process, with its visible output and its input. */
export class RunningProgram {
  readonly input: PassThrough & { readonly isTTY?: boolean };
  readonly output: Screen;
  readonly errors: Screen;
  readonly ended: Promise<Ended>;
  readonly #stopping = new AbortController();

  constructor(program: Program, argv: readonly string[], options: RunOptions = {}) {
    const { environment = {}, isTTY = false, ...rest } = options;
    const { output = new Screen(isTTY), errors = new Screen(isTTY), ...parts } = rest;
    this.input = Object.assign(new PassThrough(), { isTTY });
    this.output = output;
    this.errors = errors;
    const host = { environment, timeZone: environment.TZ ?? 'UTC', stopping: this.#stopping };
    this.ended = program(argv, { streams: this, ...host, ...parts }).then((exitCode) => ({
      ...{ exitCode, stdout: this.output.text, stderr: this.errors.text },
    }));
  }

  /** Presses Ctrl-C. */
  interrupt(): void {
    this.#stopping.abort(new InterruptedError());
  }

  /** Settles once the pattern can be read. @throws when the program ends without it */
  async shows(pattern: RegExp): Promise<void> {
    const early = this.ended.then((ended) => {
      if (pattern.test(ended.stdout + ended.stderr)) return;
      throw new Error(`ended before ${pattern}: ${JSON.stringify(ended)}`);
    });
    await Promise.race([this.output.shows(pattern), this.errors.shows(pattern), early]);
  }
}

/** A stream that a program writes to, with the visible result. */
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

/** A stream that loses all output, for this reason. */
export class Nowhere extends Screen {
  readonly #code: string;

  constructor(code: string) {
    super(false);
    this.#code = code;
  }

  override _write(_chunk: Buffer, _encoding: string, done: (error: Error) => void): void {
    done(Object.assign(new Error('lost'), { code: this.#code }));
  }
}

/** The outcome of a process. */
export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const streams = [text(child.stdout), text(child.stderr)] as const;
  const [stdout, stderr, [exitCode]] = await Promise.all([...streams, once(child, 'close')]);
  return { exitCode, stdout, stderr };
}
