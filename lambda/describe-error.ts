import { type Fault, NotifierError } from './errors.ts';

/** What may be logged about an error. */
export interface ErrorDescription {
  readonly name: string;
  readonly code?: string;
  readonly fault?: Fault;
  readonly message?: string;
  readonly retryHelps?: boolean;
  readonly whatToDo?: string;
  /** Frames of the stack, for errors that are not ours. */
  readonly at?: readonly string[];
  readonly cause?: ErrorDescription;
}

const framesShown = 5;

/**
 * Describes an error and its causes without anything that could be personal or secret.
 *
 * Only our own errors' messages are shown, because they are written to be safe: those of others
 * are not (`JSON.parse`, for one, quotes what it could not read).
 */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { name: typeof error };
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  if (error instanceof NotifierError) {
    const { name, code, fault, message, retryHelps, whatToDo } = error;
    return { name, code, fault, message, retryHelps, whatToDo, ...cause };
  }
  return { name: error.name, ...systemCode(error), at: framesOf(error), ...cause };
}

/** Details of a log line: errors among them are described, because a logger would print them whole. */
export function describeDetails(
  details: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [
      key,
      value instanceof Error ? describeError(value) : value,
    ]),
  );
}

/** `ECONNREFUSED` and the like. */
function systemCode(error: Error): { code?: string } {
  return 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
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
