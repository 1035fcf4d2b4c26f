import {
  GetScheduleCommand,
  ResourceNotFoundException,
  SchedulerClient,
} from '@aws-sdk/client-scheduler';
import * as z from 'zod';
import { AwsFailedError, NotPermittedError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { type Check, checkLines } from '../render/check.ts';
import type { Session } from '../session.ts';
import { calling } from '../target/access.ts';
import type { Operator } from '../target/operator.ts';

export const check = opsCommand({
  usage: 'check',
  summary: 'Tries everything that a first deployment can get wrong, and explains each failure.',
  details:
    'Reads only. Ends with 1 when something has failed; warnings do not count. Of all integrations, unless --integration names one.',
  examples: [
    ['check --stack prod', 'after a deployment'],
    ['check --stack prod --integration district-a --json', 'one of them, for a program'],
  ],
  settings: z.object({}),
  async run(session) {
    const checked: Awaited<ReturnType<typeof checkOne>>[] = [];
    for (const operator of await session.operators())
      checked.push(await checkOne(session, operator));
    session.answer(checked, (view) =>
      checked.flatMap(({ integration, checks, scope }, index) => [
        ...(index > 0 ? [''] : []),
        ...checkLines(view, integration, checks, scope),
      ]),
    );
    const isFailed = checked.some(({ checks }) =>
      checks.some(({ outcome }) => outcome === 'failed'),
    );
    return isFailed ? exitCodes.problem : exitCodes.fine;
  },
});

async function checkOne(session: Session, operator: Operator) {
  const { name } = operator.integration;
  const schedule = await checkSchedule(session, operator);
  const { checks, scope } = await session.ask(operator, 'check', {});
  return { integration: name, checks: [schedule, ...checks], scope };
}

/** The function cannot see its own schedule. Not to be allowed to look is no failure of the deployment. */
async function checkSchedule(session: Session, { integration }: Operator): Promise<Check> {
  const name = 'schedule';
  const { access } = await session.target();
  const client = new SchedulerClient(access.client('scheduler'));
  const command = new GetScheduleCommand({ Name: integration.schedule });
  try {
    const { State, ScheduleExpression = '' } = await calling(
      'scheduler:GetSchedule',
      () => client.send(command, { abortSignal: session.stop }),
      session.stop,
    );
    if (State === 'ENABLED')
      return { name, outcome: 'ok', found: `Enabled: ${ScheduleExpression}.` };
    return {
      name,
      outcome: 'failed',
      found: 'The schedule is disabled: no tick is started.',
      whatToDo:
        'Somebody has switched it off by hand: enable it, or deploy again. To pause, use the command pause.',
    };
  } catch (error) {
    if (!(error instanceof NotPermittedError || error instanceof AwsFailedError)) throw error;
    const isGone = error.cause instanceof ResourceNotFoundException;
    if (!isGone)
      return {
        name,
        outcome: 'skipped',
        found: error.message,
        whatToDo: error.whatToDo,
        code: error.code,
      };
    return {
      name,
      outcome: 'failed',
      found: 'The schedule does not exist: no tick is started.',
      whatToDo: 'Somebody has removed it: deploy again.',
    };
  }
}
