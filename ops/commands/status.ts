import * as z from 'zod';
import {
  adviceOn,
  type Condition,
  conditions,
  noticed,
  type Place,
} from '../../lambda/condition-table.ts';
import { type Reason, reasons } from '../../lambda/operations/commands/status.ts';
import { contract, type ResultOf } from '../../lambda/operations/contract.ts';
import { ofEvery } from '../every-integration.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { type AdvisedStatus, needsSomebody, statusLines } from '../render/status.ts';
import { lookAtSchedule, type Schedule, schedulePermission } from '../target/schedule.ts';

export const status = opsCommand({
  usage: 'status',
  permissions: schedulePermission,
  summary: contract.status.does,
  details:
    'Of all integrations, unless --integration names one. With --exit-code it ends with 1 when one of them needs somebody to look at it: not for a pause, a baseline, events about to be delivered or a total that no day explains.',
  examples: [
    ['status --stack prod', 'how is it doing?'],
    ['status --stack prod --history', 'and who has changed what?'],
    ['status --local --json', 'for a program'],
    ['status --stack prod --exit-code --json', 'for a monitor'],
  ],
  declare: (command) =>
    command
      .option('--history', 'also the commands that changed something, newest first')
      .option('--no-partner', 'do not ask the partner for its total')
      .option('--exit-code', 'end with 1 when one of them needs somebody'),
  settings: z.object({
    history: z.boolean().default(false),
    partner: z.boolean(),
    exitCode: z.boolean().default(false),
  }),
  async run(session, { exitCode: tellsByCode, ...settings }) {
    const all = await ofEvery(session, {
      label: 'status',
      ask: async (operator) => {
        const { access } = await session.target();
        const [status, schedule] = await Promise.all([
          operator.ask('status', settings),
          lookAtSchedule(access, operator.integration.schedule, session.stop),
        ]);
        return advised(scheduled(status, schedule), session.place(operator.integration.name));
      },
      lines: statusLines,
    });
    return tellsByCode && all.some(needsSomebody) ? exitCodes.problem : exitCodes.fine;
  },
});

type Status = ResultOf<'status'>;

/** What the function says, and what keeps its ticks from being started. */
function scheduled(status: Status, { is }: Schedule): Status {
  if (is === 'enabled' || is === 'unknown') return status;
  const found = new Set<Reason>([...status.reasons, `schedule-${is}`]);
  const all = reasons.filter((reason) => found.has(reason));
  return { ...status, standing: all[0] ?? 'up-to-date', reasons: all };
}

/** What the table says of each condition, with the command as it is given here. */
function advised({ conditions: open, ...status }: Status, place: Place): AdvisedStatus {
  const isOpen = (reason: Reason) => open.some(({ name }) => name === reason);
  const unopened = status.reasons.filter((reason) => !isOpen(reason));
  const toDo = unopened.flatMap((reason) => conditionOf(reason) ?? []);
  return {
    ...status,
    toDo: toDo.map((condition) => adviceOn(condition, place)),
    conditions: open.map((condition) => {
      const entry = noticed[condition.name];
      return { ...condition, title: entry.title, whatToDo: adviceOn(entry, place) };
    }),
  };
}

/** What is said of a reason that is no open notice. */
function conditionOf(reason: Reason): Condition | undefined {
  const all: Readonly<Record<string, Condition | undefined>> = conditions();
  return all[reason === 'behind' ? 'no-completed-tick' : reason];
}
