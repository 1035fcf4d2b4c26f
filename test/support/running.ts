import { PassThrough, Writable } from 'node:stream';
import { InterruptedError } from '../../ops/errors.ts';
import type { Environment, HostInput } from '../../ops/host.ts';

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program without its process. @returns the exit code */
type Program = (argv: readonly string[], host: HostInput) => Promise<number>;

export interface RunOptions extends Partial<Pick<HostInput, 'clock' | 'aws'>> {
  readonly environment?: Environment;
  /** Whether its streams are a terminal. */
  readonly isTTY?: boolean;
  readonly output?: Screen;
}

/** A program in this process: what somebody sees of it, and does to it. */
export class RunningProgram {
  readonly input: PassThrough & { readonly isTTY?: boolean };
  readonly output: Screen;
  readonly errors: Screen;
  readonly ended: Promise<Ended>;
  readonly #stopping = new AbortController();

  constructor(program: Program, argv: readonly string[], options: RunOptions = {}) {
    const { environment = {}, isTTY = false, output = new Screen(isTTY), ...parts } = options;
    this.input = Object.assign(new PassThrough(), { isTTY });
    this.output = output;
    this.errors = new Screen(isTTY);
    const running = program(argv, {
      streams: this,
      environment,
      timeZone: environment.TZ ?? 'UTC',
      stopping: this.#stopping,
      ...parts,
    });
    this.ended = running.then((exitCode) => ({
      exitCode,
      stdout: this.output.text,
      stderr: this.errors.text,
    }));
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
