import { randomUUID } from 'node:crypto';
import type { ResultOf } from '../lambda/commands/contract.ts';
import { InterruptedError, OpsError } from './errors.ts';
import type { Progress } from './progress.ts';
import type { OperateClient, Outcome } from './target/operate-client.ts';

/** Commands that may take several calls of the function. */
export type Continued = 'replay' | 'prove' | 'holds' | 'events' | 'release' | 'discard';

/** The point where a command stopped early. */
export interface Stopped {
  readonly cause: OpsError;
  /** The command that resumes there. */
  readonly next: { readonly command: string };
}

interface Following<Result> {
  /** Ends the command between two calls. */
  readonly stop: AbortSignal;
  readonly progress: Progress;
  /** Adds the result of one call to the sum of the earlier ones. */
  sum(all: Result | undefined, one: Result): Result;
  /** The input of the next call; `undefined` ends the command. Absent: follows `next` to the end. */
  goOn?(next: object | undefined, all: Result | undefined): object | undefined;
  /** Called after each answer. */
  onResult?(one: Result, all: Result): void;
}

export type Followed<Result> =
  | { readonly result: Result; readonly stopped?: undefined }
  | { readonly result: Result | undefined; readonly stopped: Stopped };

/** Chosen here, so that the caller knows it even if an answer is lost. The record of the command has it in its name. */
export const operationName = (): string => randomUUID();

const whatIsLeft = 'Nothing is under way any more: the rest was not begun.';

/**
 * Repeats a command until it is done: each call goes on where the last one stopped.
 *
 * @param first the command, or `next` of an earlier answer
 * @returns the sum, and where the command stopped, if it did so early
 * @throws OpsError if nothing was begun, so that there is no work to resume
 */
export async function follow<Name extends Continued>(
  client: OperateClient,
  name: Name,
  first: object,
  { stop, progress, sum, goOn = toTheEnd, onResult }: Following<ResultOf<Name>>,
): Promise<Followed<ResultOf<Name>>> {
  let all: ResultOf<Name> | undefined;
  let next: object | undefined = first;
  while (next !== undefined) {
    const here: Stopped['next'] = { ...next, command: name };
    const outcome: CallOutcome<ResultOf<Name>> = await oneCall(client, name, here, {
      stop,
      progress,
    });
    const { result, failure }: CallOutcome<ResultOf<Name>> = outcome;
    const isBegun = all !== undefined || result?.next || failure?.isPerhapsDone;
    if (!isBegun && failure !== undefined) throw failure;
    if (result !== undefined) {
      all = sum(all, result);
      onResult?.(result, all);
    }
    next = goOn(result?.next, all);
    if (failure !== undefined)
      return {
        result: all,
        stopped: { cause: causeOf(failure, stop), next: result?.next ?? here },
      };
  }
  if (all === undefined) throw new TypeError('A command is given at least once.');
  return { result: all };
}

const toTheEnd = (next: object | undefined) => next;

function causeOf(failure: OpsError, stop: AbortSignal): OpsError {
  return failure === stop.reason ? new InterruptedError(whatIsLeft) : failure;
}

type CallOutcome<Result> =
  | Outcome<Result>
  | { readonly result?: undefined; readonly failure: OpsError };

/** One call; an error that ends it counts as an answer. */
async function oneCall<Name extends Continued>(
  client: OperateClient,
  name: Name,
  input: object,
  { stop, progress }: { readonly stop: AbortSignal; readonly progress: Progress },
): Promise<CallOutcome<ResultOf<Name>>> {
  try {
    stop.throwIfAborted();
    progress.beginCall();
    return await client.attempt(name, input);
  } catch (error) {
    if (error instanceof OpsError) return { failure: error };
    throw error;
  }
}
