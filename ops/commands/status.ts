import * as z from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { statusLines } from '../render/status.ts';

export const status = opsCommand({
  usage: 'status',
  summary: 'Up to date, or why not: all there is to know about each integration.',
  details: 'Of all integrations, unless --integration names one.',
  examples: [
    ['status --stack prod', 'how is it doing?'],
    ['status --stack prod --history', 'and who has changed what?'],
    ['status --local --json', 'for a program'],
  ],
  declare: (command) =>
    command
      .option('--history', 'also the commands that changed something, newest first')
      .option('--no-partner', 'do not ask the partner for its total'),
  settings: z.object({ history: z.boolean().default(false), partner: z.boolean() }),
  async run(session, settings) {
    const operators = await session.operators();
    const all = await Promise.all(
      operators.map((operator) => session.ask(operator, 'status', settings)),
    );
    session.answer(all, (view) =>
      all.flatMap((one, index) => [...(index > 0 ? [''] : []), ...statusLines(view, one)]),
    );
    return exitCodes.fine;
  },
});
