import * as z from 'zod';
import { type Reason, type ResultOf, reasons } from '../../lambda/operations/contract.ts';
import { ofEvery } from '../every-integration.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { needsSomebody, statusLines } from '../render/status.ts';
import { lookAtSchedule, type Schedule } from '../target/schedule.ts';
import type { Target } from '../target/target.ts';

export const status = opsCommand({
  usage: 'status',
  summary: 'Up to date, or why not: all there is to know about each integration.',
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
        const target = await session.target();
        const [status, schedule] = await Promise.all([
          operator.ask('status', settings),
          lookAtSchedule(target.access, operator.integration, session.stop),
        ]);
        return addressed(scheduled(status, schedule), target);
      },
      lines: statusLines,
    });
    return tellsByCode && all.some(needsSomebody) ? exitCodes.problem : exitCodes.fine;
  },
});

type Status = ResultOf<'status'>;

const hindrances: Partial<Readonly<Record<Schedule['is'], Reason>>> = {
  disabled: 'schedule-disabled',
  removed: 'schedule-removed',
};

/** What the function says, and what keeps its ticks from being started. */
function scheduled(status: Status, { is }: Schedule): Status {
  const hindrance = hindrances[is];
  if (hindrance === undefined) return status;
  const found = new Set<Reason>([...status.reasons, hindrance]);
  const all = reasons.filter((reason) => found.has(reason));
  return { ...status, standing: all[0] ?? hindrance, reasons: all };
}

/** The function takes itself to be in AWS. What it advises must not be typed here and be done there. */
function addressed({ conditions, ...status }: Status, { access, name }: Target): Status {
  if (!access.isLocal) return { ...status, conditions };
  const { endpoint = '' } = access.settings('secretsManager');
  const here = (advice: string) =>
    advice
      .replace(`--stack ${name} `, '--local ')
      .replace(/(aws secretsmanager [\w-]+) /, `$1 --endpoint-url ${endpoint} `);
  return {
    ...status,
    conditions: conditions.map((one) => ({ ...one, whatToDo: here(one.whatToDo) })),
  };
}
