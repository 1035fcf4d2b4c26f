import { fstatSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { addAbortSignal, type Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { InterruptedError, UsageError } from './errors.ts';
import type { EnvironmentVariables, OpsHost } from './host.ts';
import type { Tone, View } from './render/layout.ts';

/** The three streams of a process; tests replace them. */
export interface Streams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean; readonly fd?: number };
  readonly errors: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

const styles = {
  strong: 'bold',
  faint: 'dim',
  good: 'green',
  warning: 'yellow',
  bad: 'red',
} as const satisfies Partial<Record<Tone, Parameters<typeof styleText>[0]>>;

const clearLine = '\r\u001B[2K';

/** With an empty `TZ`, which means UTC, Node says `Etc/Unknown`. Temporal rejects that name. */
export const calendarZone = (timeZone: string): string =>
  timeZone === 'Etc/Unknown' ? 'UTC' : timeZone;

/** Writes answers to standard output, and everything else to standard error. */
export class Terminal {
  readonly #host: Pick<OpsHost, 'streams' | 'environment' | 'timeZone' | 'clock'>;
  readonly #streams: Streams;
  #hasTransient = false;

  constructor(host: Pick<OpsHost, 'streams' | 'environment' | 'timeZone' | 'clock'>) {
    this.#host = host;
    this.#streams = host.streams;
  }

  /** A person can be asked. */
  get isAttended(): boolean {
    return this.#streams.input.isTTY === true && this.#streams.errors.isTTY === true;
  }

  get showsProgress(): boolean {
    return this.#streams.errors.isTTY === true;
  }

  /** Standard output goes into a file. */
  get writesFile(): boolean {
    const { fd } = this.#streams.output;
    return fd !== undefined && fstatSync(fd).isFile();
  }

  /** The view for a stream: colours only on a terminal, and not with NO_COLOR. */
  view(stream: 'output' | 'errors' = 'output'): View {
    const { clock, timeZone, environment } = this.#host;
    const isColoured = showsColours(this.#streams[stream], environment);
    return {
      now: clock.now(),
      zone: calendarZone(timeZone),
      paint: (tone, words) =>
        tone === 'plain' || !isColoured
          ? words
          : styleText(styles[tone], words, { validateStream: false }),
    };
  }

  print(lines: readonly string[]): void {
    this.#clear();
    for (const line of lines) this.#streams.output.write(`${line}\n`);
  }

  /** Lines beside the answer, such as errors and work in progress. */
  note(lines: readonly string[]): void {
    this.#clear();
    for (const line of lines) this.#streams.errors.write(`${line}\n`);
  }

  /** The columns of a transient line. Some terminals report 0. */
  get lineWidth(): number {
    return (this.#streams.errors.columns || 80) - 1;
  }

  /** A line that the next output replaces. */
  transient(line: string): void {
    const width = this.lineWidth;
    const fitting = line.length > width ? `${line.slice(0, width - 1)}…` : line;
    this.#streams.errors.write(`${clearLine}${fitting}`);
    this.#hasTransient = true;
  }

  endTransient(): void {
    this.#clear();
  }

  /** @throws InterruptedError at Ctrl-C */
  async ask(question: string, stop: AbortSignal): Promise<string> {
    return this.#question(question, this.#streams.errors, stop);
  }

  /** Does not show the typed text. @throws InterruptedError at Ctrl-C */
  async askSecretly(question: string, stop: AbortSignal): Promise<string> {
    this.#streams.errors.write(question);
    const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
    try {
      return await this.#question('', silence, stop);
    } finally {
      this.#streams.errors.write('\n');
    }
  }

  /**
   * All of standard input, from a file or another program.
   *
   * @throws UsageError if it is a terminal, which would show the typed text
   * @throws InterruptedError at Ctrl-C
   */
  async standardInput(stop: AbortSignal): Promise<string> {
    if (this.#streams.input.isTTY === true)
      throw new UsageError(
        'You cannot be asked: standard error, where questions are put, is no terminal.',
        'Leave standard error on the terminal, or give standard input from a file. Nothing was changed.',
      );
    try {
      return await text(addAbortSignal(stop, this.#streams.input));
    } catch (cause) {
      throw stop.aborted ? stop.reason : cause;
    }
  }

  async #question(question: string, output: Writable, stop: AbortSignal): Promise<string> {
    this.#clear();
    // A terminal hands Ctrl-C to the reader as a key, not to the process as a signal.
    const lines = createInterface({ input: this.#streams.input, output, terminal: true });
    const interrupted = new AbortController();
    lines.once('SIGINT', () => interrupted.abort());
    lines.once('close', () => interrupted.abort());
    try {
      const signal = AbortSignal.any([stop, interrupted.signal]);
      return await lines.question(question, { signal });
    } catch (cause) {
      if (stop.aborted) throw stop.reason;
      if (interrupted.signal.aborted) throw new InterruptedError();
      throw cause;
    } finally {
      lines.close();
    }
  }

  #clear(): void {
    if (this.#hasTransient) this.#streams.errors.write(clearLine);
    this.#hasTransient = false;
  }
}

/** Node's own rule, for any stream and environment. */
export function showsColours(
  { isTTY = false }: { isTTY?: boolean },
  environment: EnvironmentVariables,
): boolean {
  if (!isTTY && environment.FORCE_COLOR === undefined) return false;
  return WriteStream.prototype.getColorDepth(environment) > 2;
}
