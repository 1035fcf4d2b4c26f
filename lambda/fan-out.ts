import type { Context } from 'aws-lambda';
import { assemble } from './assembly.ts';
import { TaskFailure } from './fan-out/errors.ts';
import { carryOutTask } from './fan-out/task.ts';
import { FunctionJournal } from './function-journal.ts';
import { dynamoFanOutLedger } from './ledger/dynamo-fan-out-ledger.ts';
import { parseFunctionSettings } from './settings.ts';

const environment = parseFunctionSettings(process.env);
const { name } = environment.INTEGRATION;
const journal = new FunctionJournal('certification-notifier-baseline', name);
const assembled = assemble(environment, journal);
const parts = { ...assembled, fanOut: dynamoFanOutLedger(assembled.table, name) };

/** Carries out one task of the state machine. The name of a failure says whether to try again. */
export async function handler(event: unknown, context: Context) {
  const deadline = parts.clock.now().add({ milliseconds: context.getRemainingTimeInMillis() });
  journal.begin(context);
  const effort = parts.measure();
  try {
    const result = await carryOutTask(parts, event, { id: context.awsRequestId, deadline });
    // Of a plan, only the number of its ranges is logged: all of them would be a line of 60 KB.
    const brief = 'left' in result ? { ...result, left: result.left.length } : result;
    journal.info('task', { ...effort(), task: event, result: brief });
    return result;
  } catch (error) {
    journal.error('task failed', error, { ...effort(), task: event });
    throw new TaskFailure(error);
  }
}
