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
  { streams: { output, errors }, stopping }: Pick<ProcessHost, 'streams' | 'stopping'>,
  program: () => Promise<ExitCode>,
  tell: (lost: OutputLostError) => ExitCode,
): Promise<ExitCode> {
  const lost: OutputLostError[] = [];
  const fail = (cause: NodeJS.ErrnoException) => {
    if (stopping.signal.aborted) return;
    // The reader of the output (`| head`) has seen enough.
    if (cause.code === 'EPIPE') return stopping.abort(new InterruptedError());
    lost.push(new OutputLostError(cause.code ?? cause.name, { cause }));
    stopping.abort(lost[0]);
  };
  output.on('error', fail);
  errors.on('error', nowhereToTell);
  const written = () => Promise.all([settled(output), settled(errors)]);
  try {
    const exitCode = await program();
    await written();
    const [first] = lost;
    if (first === undefined) return exitCode;
    const isLost = tell(first);
    await written();
    return isLost;
  } finally {
    output.off('error', fail);
    errors.off('error', nowhereToTell);
  }
}

/** Nothing can report a failure of standard error; the exit code remains. */
const nowhereToTell = () => {};

/** Settles once all output is written, or has failed: a stream emits its error shortly after the callback. */
const settled = (stream: Writable) =>
  new Promise<void>((resolve) => stream.write('', () => setImmediate(resolve)));
