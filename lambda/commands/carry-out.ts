import { describeError, problemOf } from '../describe-error.ts';
import type { TickRun } from '../tick/tick.ts';
import { timeUntil } from '../tick/time.ts';
import {
  type CommandAnswer,
  type CommandName,
  type CommandOf,
  definitions,
  parseCommand,
  type ResultOf,
} from './contract.ts';
import type { Call, OperationParts } from './parts.ts';
import { briefly, conclude, record } from './record.ts';

/**
 * Carries out one command. A failure is an answer, too.
 *
 * @param input the function's input, of any shape
 */
export async function carryOut(
  parts: OperationParts,
  input: unknown,
  { id, deadline }: TickRun,
): Promise<CommandAnswer> {
  try {
    const command = parseCommand(input);
    const recorded = await record(parts, command, { id });
    const call = { id, time: timeUntil(deadline), operation: recorded?.operation };
    const answer = await answerTo(parts, command.command, command, call);
    if (recorded !== undefined) await conclude(parts, recorded, command.command, answer);
    // A certificate of ten years has a megabyte, which is more than a line of a log can have.
    parts.journal.info('command', briefly({ command, answer }));
    return answer;
  } catch (error) {
    return failed(parts, error);
  }
}

async function answerTo<Name extends CommandName>(
  parts: OperationParts,
  name: Name,
  command: CommandOf<Name>,
  call: Call,
): Promise<CommandAnswer<ResultOf<Name>>> {
  try {
    const definition = definitions[name];
    const { failure, ...outcome } = await definition.carry(parts, command, call);
    // Nothing leaves that is not in its definition.
    const result = definition.result.parse(outcome.result);
    return failure === undefined ? { ok: true, result } : { ...failed(parts, failure), result };
  } catch (error) {
    return failed(parts, error);
  }
}

/** The log gets the whole error, as far as it is safe to tell; the caller gets the remedy. */
function failed({ journal }: Pick<OperationParts, 'journal'>, error: unknown) {
  journal.warn('command failed', { problem: describeError(error) });
  return { ok: false, problem: problemOf(error, 'command') } as const;
}
