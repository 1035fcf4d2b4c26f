import * as z from 'zod';
import { contract } from '../../lambda/commands/contract.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { tickLines } from '../render/tick.ts';

export const tick = opsCommand({
  usage: 'tick',
  changes: {},
  summary: contract.tick.does,
  details: 'Safe at any time: while another tick is at work, this one does nothing.',
  examples: [['tick --stack prod', 'look for changes now']],
  settings: z.object({}),
  async run(session) {
    const client = await session.operateClient();
    const result = await session.ask(client, 'tick', { by: await session.by() });
    session.answer(result, (view) => tickLines(view, result));
    return exitCodes.fine;
  },
});
