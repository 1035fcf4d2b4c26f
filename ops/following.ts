import type { ResultOf } from '../lambda/operations/contract.ts';
import { OpsError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import type { Session } from './session.ts';
import type { Operator, Outcome } from './target/operator.ts';

/** Commands that one call of the function may not bring to their end. */
export type Continued = 'replay' | 'prove' | 'holds' | 'release' | 'discard';

/** Where something stopped before its end. */
export interface Stopped {
  readonly cause: OpsError;
  /** The command that goes on from there. */
  readonly next: { readonly command: string };
}

interface Following<Result> {
  /** Of all calls so far and one more. */
  sum(all: Result | undefined, one: Result): Result;
  /** Told of each answer. */
  onResult?(one: Result, all: Result): void;
  /** Not everything was wanted. */
  isEnough?(all: Result): boolean;
}

export type Followed<Result> =
  | { readonly result: Result; readonly stopped?: undefined }
  | { readonly result: Result | undefined; readonly stopped: Stopped };

/**
 * Gives a command until it is done: each call goes on where the last one stopped.
 *
 * @param first the command, or `next` of an earlier answer
 * @returns the sum; and where it stopped, when it has not come to its end
 * @throws OpsError when nothing was done, and going on makes no sense
 */
export async function follow<Name extends Continued>(
  { stop }: Session,
  operator: Operator,
  name: Name,
  first: object,
  { sum, onResult, isEnough }: Following<ResultOf<Name>>,
): Promise<Followed<ResultOf<Name>>> {
  let all: ResultOf<Name> | undefined;
  let next: object | undefined = { ...first, command: name };
  while (next !== undefined) {
    const here: Stopped['next'] = { ...next, command: name };
    try {
      stop.throwIfAborted();
      const outcome: Outcome<ResultOf<Name>> = await operator.attempt(name, next);
      const { result, failure }: Outcome<ResultOf<Name>> = outcome;
      if (result !== undefined) {
        all = sum(all, result);
        onResult?.(result, all);
      }
      if (failure !== undefined)
        return { result: all, stopped: { cause: failure, next: result?.next ?? here } };
      next = all !== undefined && isEnough?.(all) ? undefined : result?.next;
    } catch (cause) {
      if (!(cause instanceof OpsError)) throw cause;
      if (all === undefined && cause.exitCode !== exitCodes.interrupted) throw cause;
      return { result: all, stopped: { cause, next: here } };
    }
  }
  if (all === undefined) throw new TypeError('A command is given at least once.');
  return { result: all };
}
