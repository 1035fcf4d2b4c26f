import { NotifierError } from './errors.ts';

/** A failure, as data. */
export type Problem = Pick<NotifierError, 'code' | 'fault' | 'message' | 'retryHelps' | 'whatToDo'>;

/** The facts of an error that may be logged. */
export interface ErrorDescription extends Partial<Problem> {
  readonly name: string;
  /** Frames of the stack, for errors that are not ours. */
  readonly at?: readonly string[];
  readonly cause?: ErrorDescription;
  /** For an error that stands for several: the first of them. */
  readonly causes?: readonly ErrorDescription[];
}

const framesShown = 5;
const causesShown = 5;

/** Our own errors are written to be shown. Of a foreign one, only its name is safe. */
export function problemOf(error: unknown, what: 'command' | 'tick'): Problem {
  if (error instanceof NotifierError) {
    const { code, fault, message, retryHelps, whatToDo } = error;
    return { code, fault, message, retryHelps, whatToDo };
  }
  return {
    code: 'unexpected',
    fault: 'ops',
    message: `The ${what} failed: ${error instanceof Error ? error.name : typeof error}.`,
    retryHelps: true,
    whatToDo: `See "${what} failed" in the log; if it happens again, it is a defect: report it.`,
  };
}

/**
 * Describes an error and its causes without anything that could be personal or secret.
 *
 * Only the texts of our own errors are shown, because they are written to be safe. Those of others
 * are not: `JSON.parse`, for one, quotes the text that it could not read.
 */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name } = error;
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  if (error instanceof NotifierError) return { name, ...problemOf(error, 'tick'), ...cause };
  // `ECONNREFUSED` and the like.
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const first = error instanceof AggregateError ? error.errors.slice(0, causesShown) : [];
  const causes = first.length > 0 && { causes: first.map(describeError) };
  return { name, ...code, at: framesOf(error), ...cause, ...causes };
}

/** The stack begins with the message, which may have lines that look like frames. */
function framesOf(error: Error): string[] {
  const stack = error.stack ?? '';
  const begin = stack.indexOf(error.message);
  const frames = begin < 0 ? '' : stack.slice(begin + error.message.length);
  return frames
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, framesShown)
    .map((line) => line.trim());
}
