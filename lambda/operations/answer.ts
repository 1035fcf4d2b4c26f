import type * as z from 'zod/mini';
import { NotifierError } from '../errors.ts';
import type { problemSchema } from './contract.ts';

/** What went wrong, as data: for the caller of a function, who sees no stack trace. */
export type Problem = Readonly<z.output<typeof problemSchema>>;

/** What every command answers. */
export type Answer<Result = unknown> =
  | { readonly ok: true; readonly result: Result }
  | {
      readonly ok: false;
      readonly problem: Problem;
      /** What was done before it went wrong, if anything. */
      readonly result?: Result;
    };

/** Our own errors are written to be shown; of a foreign one, only its name is safe. */
export function problemOf(error: unknown): Problem {
  if (error instanceof NotifierError) {
    const { code, fault, message, retryHelps, whatToDo } = error;
    return { code, fault, message, retryHelps, whatToDo };
  }
  return {
    code: 'unexpected',
    fault: 'ops',
    message: `The command failed: ${error instanceof Error ? error.name : typeof error}.`,
    retryHelps: true,
    whatToDo:
      'See "command failed" in the log of the operate function; if it happens again, it is a defect: report it.',
  };
}
