import * as z from 'zod';
import { flag } from '../../lambda/commands/words.ts';
import { advisedStatus } from '../advised-status.ts';
import { ofEvery } from '../every-integration.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { needsSomebody, statusLines } from '../render/status.ts';
import { commandOf } from '../target/operate-client.ts';
import { schedulePermission } from '../target/schedule.ts';

export const status = opsCommand({
  of: 'status',
  permissions: schedulePermission,
  details:
    'Covers all integrations, unless --integration names one. With --exit-code it ends with 1 when one of them needs attention. A pause, a baseline, events about to be delivered or a total that no day explains yet do not count.',
  examples: [
    ['status --stack prod', 'how is it doing?'],
    ['status --stack prod --history', 'and who has changed what?'],
    ['status --local --json', 'for a program'],
    ['status --stack prod --exit-code --json', 'for a monitor'],
  ],
  own: z.object({
    exitCode: flag('end with 1 when one of them needs attention', { isForPeople: true }),
  }),
  async run(session, { exitCode: tellsByCode }, settings) {
    const all = await ofEvery(session, {
      label: 'status',
      ask: async (client) => {
        const { access } = await session.target();
        const place = session.place(client.integration.name);
        return advisedStatus(client, commandOf('status', settings), {
          access,
          place,
          stop: session.stop,
        });
      },
      lines: statusLines,
    });
    return tellsByCode && all.some(needsSomebody) ? exitCodes.problem : exitCodes.fine;
  },
});
