import * as z from 'zod';
import {
  alarmed,
  type Condition,
  commandLine,
  conditions,
  type Place,
} from '../../lambda/condition-table.ts';
import { contract } from '../../lambda/operations/contract.ts';
import { ofEvery } from '../every-integration.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { type Check, checkLines } from '../render/check.ts';
import type { Session } from '../session.ts';
import type { Operator } from '../target/operator.ts';
import { lookAtSchedule, schedulePermission } from '../target/schedule.ts';
import { placeOf } from '../target/target.ts';

export const check = opsCommand({
  usage: 'check',
  permissions: schedulePermission,
  summary: contract.check.does,
  details:
    'Reads only. Ends with 1 when something has failed; warnings do not count. Of all integrations, unless --integration names one.',
  examples: [
    ['check --stack prod', 'after a deployment'],
    ['check --stack prod --integration district-a --json', 'one of them, for a program'],
  ],
  settings: z.object({}),
  async run(session) {
    const checked = await ofEvery(session, {
      label: 'check',
      ask: (operator) => checkOne(session, operator),
      lines: (view, { integration, checks }) => checkLines(view, integration, checks),
    });
    const isFailed = checked.some(({ checks }) =>
      checks.some(({ outcome }) => outcome === 'failed'),
    );
    return isFailed ? exitCodes.problem : exitCodes.fine;
  },
});

async function checkOne(session: Session, operator: Operator) {
  const { name } = operator.integration;
  const schedule = await checkSchedule(session, operator);
  const { checks } = await operator.ask('check', {});
  const place = placeOf(await session.target(), name);
  const known = new Map<string, Condition>(Object.entries(conditions()));
  const told = checks.map((one) => withCommand(one, known.get(one.code ?? ''), place));
  return { integration: name, checks: [schedule, ...told] };
}

/** What ends a condition that was met; that is not to check once more. */
function withCommand(check: Check, { command }: Partial<Condition> = {}, place: Place): Check {
  if (command === undefined || ('ops' in command && command.ops === 'check')) return check;
  return { ...check, whatToDo: `${check.whatToDo} ${commandLine(command, place)}` };
}

async function checkSchedule(session: Session, { integration }: Operator): Promise<Check> {
  const name = 'schedule';
  const { access } = await session.target();
  const schedule = await lookAtSchedule(access, integration, session.stop);
  switch (schedule.is) {
    case 'enabled':
      return { name, outcome: 'ok', found: `Enabled: ${schedule.expression}.` };
    case 'disabled':
    case 'removed': {
      const { happened: found, toDo: whatToDo } = alarmed()[`schedule-${schedule.is}`];
      return { name, outcome: 'failed', found, whatToDo };
    }
    case 'unknown': {
      // Not to be allowed to look is no failure of the deployment.
      const { message, whatToDo, code } = schedule.because;
      return { name, outcome: 'skipped', found: message, whatToDo, code };
    }
  }
}
