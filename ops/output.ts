import type { Writable } from 'node:stream';
import { InterruptedError, OutputLostError } from './errors.ts';
import type { ProcessHost } from './host.ts';

/**
 * Runs a program and handles failures of its output. Without a listener, a stream that fails would end the process with
 * a stack trace. Every program with a standard output runs within this function.
 *
 * @param tell reports lost output on standard error, and returns the exit code for that
 * @returns the exit code, once everything is written
 */
export async function withOutput<ExitCode>(
  host: Pick<ProcessHost, 'streams' | 'stopping'>,
  program: () => Promise<ExitCode>,
  tell: (lost: OutputLostError) => ExitCode,
): Promise<ExitCode> {
  using output = new Output(host);
  const exitCode = await program();
  await output.written();
  if (output.lost === undefined) return exitCode;
  const isLost = tell(output.lost);
  await output.written();
  return isLost;
}

/** Watches the output, and ends the program if nobody reads it. */
class Output implements Disposable {
  readonly #streams: ProcessHost['streams'];
  readonly #stopping: AbortController;
  #lost: OutputLostError | undefined;

  constructor({ streams, stopping }: Pick<ProcessHost, 'streams' | 'stopping'>) {
    this.#streams = streams;
    this.#stopping = stopping;
    streams.output.on('error', this.#fail);
    streams.errors.on('error', nowhereToTell);
  }

  /** The failure of standard output, if there was one. */
  get lost(): OutputLostError | undefined {
    return this.#lost;
  }

  /** Settles once all output is written, or has failed. */
  async written(): Promise<void> {
    await Promise.all([settled(this.#streams.output), settled(this.#streams.errors)]);
  }

  [Symbol.dispose](): void {
    this.#streams.output.off('error', this.#fail);
    this.#streams.errors.off('error', nowhereToTell);
  }

  readonly #fail = (cause: NodeJS.ErrnoException) => {
    if (this.#stopping.signal.aborted) return;
    // The reader of the output (`| head`) has seen enough.
    if (cause.code === 'EPIPE') return this.#stopping.abort(new InterruptedError());
    this.#lost = new OutputLostError(cause.code ?? cause.name, { cause });
    this.#stopping.abort(this.#lost);
  };
}

/** Nothing can report a failure of standard error; the exit code remains. */
const nowhereToTell = () => {};

/** A stream emits its error shortly after the callback. */
const settled = (stream: Writable) =>
  new Promise<void>((resolve) => stream.write('', () => setImmediate(resolve)));
