import type { Context } from 'aws-lambda';
import { assemble } from './assembly.ts';
import { TaskFailure } from './fan-out/errors.ts';
import { FanOutJournal } from './fan-out/journal.ts';
import { carryOut } from './fan-out/task.ts';
import { dynamoFanOutLedger } from './ledger/dynamo-fan-out-ledger.ts';
import { parseSettings } from './settings.ts';

const environment = parseSettings(process.env);
const { name } = environment.INTEGRATION;
const journal = new FanOutJournal(name);
const assembled = assemble(environment, journal);
const parts = { ...assembled, fanOut: dynamoFanOutLedger(assembled.table, name) };

/** One task of the state machine. Fails with a name that tells it whether to try again. */
export async function handler(event: unknown, context: Context) {
  const deadline = parts.clock.now().add({ milliseconds: context.getRemainingTimeInMillis() });
  journal.begin(context);
  const effort = parts.measure();
  try {
    const result = await carryOut(parts, event, { id: context.awsRequestId, deadline });
    journal.carriedOut(event, result, effort());
    return result;
  } catch (error) {
    journal.failed(event, error, effort());
    throw new TaskFailure(error);
  }
}
