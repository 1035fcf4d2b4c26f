import type { Context } from 'aws-lambda';
import { assemble } from './assembly.ts';
import { Failure } from './failure.ts';
import { TickJournal } from './journal.ts';
import { parseFunctionSettings } from './settings.ts';
import type { TickReport } from './tick/report.ts';
import { tick } from './tick/tick.ts';
import { CommitsFailedError } from './write-each.ts';

const environment = parseFunctionSettings(process.env);
const journal = new TickJournal(environment.INTEGRATION.name, environment.TABLE_NAME);
const parts = assemble(environment, journal);

/**
 * Runs one tick. A failed tick fails the invocation, so that Lambda's own metric and alarm see it.
 */
export async function handler(_event: unknown, context: Context): Promise<TickReport> {
  const deadline = parts.clock.now().add({ milliseconds: context.getRemainingTimeInMillis() });
  journal.begin(context);
  const effort = parts.measure();
  try {
    const report = await tick(parts, { id: context.awsRequestId, deadline });
    journal.completed(report);
    const { failed, failure } = report;
    if (failed > 0) throw new CommitsFailedError(failed, failure === undefined ? [] : [failure]);
    return report;
  } catch (error) {
    journal.failed(error, effort());
    throw new Failure(error);
  }
}
