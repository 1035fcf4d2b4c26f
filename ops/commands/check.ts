import * as z from 'zod';
import {
  alarmed,
  type Condition,
  commandLine,
  conditions,
  type Place,
  putBack,
} from '../../lambda/condition-table.ts';
import { contract } from '../../lambda/operations/contract.ts';
import { ofEvery } from '../every-integration.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { type Check, checkLines } from '../render/check.ts';
import { harmlessJson } from '../render/text.ts';
import type { Session } from '../session.ts';
import type { OperateClient } from '../target/operate-client.ts';
import { lookAtSchedule, type Schedule, schedulePermission } from '../target/schedule.ts';

export const check = opsCommand({
  usage: 'check',
  changes: { with: ['note'] },
  permissions: schedulePermission,
  summary: contract.check.does,
  details:
    'Reads only. Ends with 1 when something has failed; warnings do not count. Of all integrations, unless --integration names one. A schedule does the same once a day and notes what fails, for the next tick to tell operations; with --note, this does, too, and is on record.',
  examples: [
    ['check --stack prod', 'after a deployment'],
    ['check --stack prod --integration district-a --json', 'one of them, for a program'],
    ['check --stack prod --note', 'all is mended: the notice of the self-check is over'],
  ],
  declare: (command) =>
    command.option(
      '--note',
      'note what fails, as the daily self-check does; the partner is not asked while it is left alone',
    ),
  settings: z.object({ note: z.boolean().default(false) }),
  async run(session, { note }) {
    const checked = await ofEvery(session, {
      label: 'check',
      ask: (client) => checkOne(session, client, note),
      lines: (view, { integration, checks }) => checkLines(view, integration, checks),
    });
    const isFailed = checked.some(({ checks }) =>
      checks.some(({ outcome }) => outcome === 'failed'),
    );
    return isFailed ? exitCodes.problem : exitCodes.fine;
  },
});

async function checkOne(session: Session, client: OperateClient, note: boolean) {
  const { name, schedule, selfCheck } = client.integration;
  const { access } = await session.target();
  const [ticks, daily] = await Promise.all([
    lookAtSchedule(access, schedule, session.stop),
    lookAtSchedule(access, selfCheck, session.stop),
  ]);
  const by = note ? { by: await session.by() } : {};
  const { checks } = await client.ask('check', { note, ...by, ...expectedIn(daily) });
  const place = session.place(name);
  const known = new Map<string, Condition>(Object.entries(conditions()));
  const told = checks.map((one) => withCommand(one, known.get(one.code ?? ''), place));
  const scheduled = [scheduleFound('schedule', ticks), scheduleFound('self-check', daily)];
  return { integration: name, checks: [...scheduled, ...told] };
}

/** What ends a condition that was met; that is not to check once more. */
function withCommand(check: Check, { command }: Partial<Condition> = {}, place: Place): Check {
  if (command === undefined || command.ops === 'check') return check;
  return { ...check, whatToDo: `${check.whatToDo} ${commandLine(command, place)}` };
}

const input = z.object({ subscriptions: contract.check.command.shape.subscriptions });

/** Which subscriptions there should be is what the schedule tells the function. */
function expectedIn(schedule: Schedule) {
  const text = 'input' in schedule ? schedule.input : undefined;
  return z.safeParse(input, harmlessJson(text ?? '')).data;
}

function scheduleFound(name: 'schedule' | 'self-check', schedule: Schedule): Check {
  switch (schedule.is) {
    case 'enabled':
      return { name, outcome: 'ok', found: `Enabled: ${schedule.expression}.` };
    case 'disabled':
    case 'removed': {
      if (name === 'self-check') {
        const found = `The schedule of the self-checks is ${schedule.is}.`;
        return { name, outcome: 'failed', found, whatToDo: putBack };
      }
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
