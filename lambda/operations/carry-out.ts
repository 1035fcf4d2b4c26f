import type { Temporal } from 'temporal-polyfill';
import { describeError } from '../describe-error.ts';
import { TimeLimit } from '../steps/time-limit.ts';
import { type Answer, problemOf } from './answer.ts';
import { type Command, CommandInvalidError, parseCommand } from './command.ts';
import type { OperationParts } from './parts.ts';
import { replay } from './replay.ts';
import { sendTestEvent } from './test-event.ts';

/**
 * Carries out one command. Whatever goes wrong is an answer too.
 *
 * @param input what the function was sent: anything
 * @param deadline when the invocation is killed
 */
export async function carryOut(
  parts: OperationParts,
  input: unknown,
  deadline: Temporal.Instant,
): Promise<Answer> {
  try {
    const command = parseCommand(input);
    const answer = await answerTo(parts, command, deadline);
    parts.journal.carriedOut(command, answer);
    return answer;
  } catch (error) {
    return failed(parts, error);
  }
}

async function answerTo(
  parts: OperationParts,
  command: Command,
  deadline: Temporal.Instant,
): Promise<Answer> {
  try {
    switch (command.command) {
      case 'test-event':
        return { ok: true, result: await sendTestEvent(parts, command) };
      case 'replay': {
        const limit = new TimeLimit(deadline, parts.clock);
        const { result, failure } = await replay(parts, command, limit);
        return failure === undefined ? { ok: true, result } : { ...failed(parts, failure), result };
      }
      default:
        throw new CommandInvalidError([`${command.command} is not carried out by this version`]);
    }
  } catch (error) {
    return failed(parts, error);
  }
}

/** The log has the whole of it, as far as it is safe to tell; the caller is told what to do. */
function failed({ journal }: Pick<OperationParts, 'journal'>, error: unknown) {
  journal.warn('command failed', { problem: describeError(error) });
  return { ok: false, problem: problemOf(error) } as const;
}
