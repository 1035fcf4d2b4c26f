import * as z from 'zod';
import { contract } from '../../lambda/commands/contract.ts';
import {
  alarmed,
  type CommandPlace,
  type Condition,
  commandLine,
  conditions,
  putBack,
} from '../../lambda/condition-table.ts';
import { ofEvery } from '../every-integration.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { checkLines, type ShownCheck } from '../render/check.ts';
import { harmlessJson } from '../render/text.ts';
import type { Session } from '../session.ts';
import type { OperateClient } from '../target/operate-client.ts';
import { lookAtSchedule, type Schedule, schedulePermission } from '../target/schedule.ts';

export const check = opsCommand({
  of: 'check',
  permissions: schedulePermission,
  details:
    'Reads only. Ends with 1 when a check has failed; warnings do not count. Covers all integrations, unless --integration names one. A schedule runs the same checks once a day and notes failures; the next tick tells operations. With --note, this command notes failures, too, and is on record.',
  examples: [
    ['check --stack prod', 'after a deployment'],
    ['check --stack prod --integration district-a --json', 'one of them, for a program'],
    ['check --stack prod --note', 'after a repair: ends the notice of the self-check'],
  ],
  async run(session, _own, settings) {
    const checked = await ofEvery(session, {
      label: 'check',
      ask: (client) => checkOne(session, client, settings['note'] === true),
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

/** Adds the command that ends the condition, save where that command is `check` itself. */
function withCommand(
  check: ShownCheck,
  { command }: Partial<Condition> = {},
  place: CommandPlace,
): ShownCheck {
  if (command === undefined || command.ops === 'check') return check;
  return { ...check, whatToDo: `${check.whatToDo} ${commandLine(command, place)}` };
}

const input = z.object({ subscriptions: contract.check.command.shape.subscriptions });

/** The expected subscriptions: the schedule holds them as the input of its function. */
function expectedIn(schedule: Schedule) {
  const text = 'input' in schedule ? schedule.input : undefined;
  return z.safeParse(input, harmlessJson(text ?? '')).data;
}

function scheduleFound(name: 'schedule' | 'self-check', schedule: Schedule): ShownCheck {
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
      // A caller without the permission is no failure of the deployment.
      const { message, whatToDo, code } = schedule.because;
      return { name, outcome: 'skipped', found: message, whatToDo, code };
    }
  }
}
