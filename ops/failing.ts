import { NotifierError } from '../lambda/errors.ts';
import { OpsError, UnexpectedError } from './errors.ts';
import { type ExitCode, exitCodeOf } from './exit-codes.ts';
import { failureLines } from './render/failure.ts';
import { jsonLine } from './render/text.ts';
import type { Terminal } from './terminal.ts';

/** Prints the error: as JSON on standard output, or for people on standard error. @returns the exit code */
export function fail(terminal: Terminal, thrown: unknown, json: boolean): ExitCode {
  const error = failureIn(thrown);
  if (json) terminal.print([jsonLine(failureOf(error))]);
  else terminal.note(failureLines(terminal.view('errors'), error));
  return error instanceof OpsError ? error.exitCode : exitCodeOf(error.code);
}

/** The error as one of ours; an unknown error is a defect. */
export function failureIn(thrown: unknown): NotifierError & Partial<OpsError> {
  const first = firstFailure(thrown);
  return first instanceof NotifierError ? first : new UnexpectedError(first);
}

/** The JSON of a failure. */
export function failureOf(error: NotifierError & Partial<Pick<OpsError, 'result' | 'next'>>) {
  const { code, fault, message, retryHelps, whatToDo, result, next } = error;
  return {
    ok: false,
    problem: { code, fault, message, retryHelps, whatToDo },
    ...(result !== undefined && { result }),
    ...(next !== undefined && { next }),
  };
}

/**
 * The first error: if the clean-up fails as well, `await using` wraps both. The wrapper is known by its name, since
 * Node before 24 has no such class, and TypeScript brings its own.
 */
function firstFailure(thrown: unknown): unknown {
  const isWrapped =
    thrown instanceof Error && thrown.name === 'SuppressedError' && 'suppressed' in thrown;
  return isWrapped ? firstFailure(thrown.suppressed) : thrown;
}
