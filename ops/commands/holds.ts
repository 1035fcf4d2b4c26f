import * as z from 'zod';
import { flag } from '../../lambda/commands/words.ts';
import { exitCodes } from '../exit-codes.ts';
import { optionsOf } from '../input.ts';
import { opsCommand } from '../ops-command.ts';
import { holdsLines, nextLines } from '../render/holds.ts';
import { countSelected, selectionIn } from './selecting.ts';

export const holds = opsCommand({
  of: 'holds',
  details:
    "Shows no personal data. With --list, each event: the id of its assessment, its revision and type, the time since when it waits, and SNS's code if SNS has refused it.",
  examples: [
    ['holds --stack prod', 'what does the gate hold?'],
    ['holds --stack prod --undeliverable --list', 'what has SNS refused for good, and why?'],
  ],
  own: z.object({ list: flag('also each event by itself') }),
  async run(session, { list }, settings) {
    const selection = selectionIn(settings);
    const client = await session.operateClient();
    const selected = await countSelected(session, client, selection, { list });
    const { found, altogether } = selected;
    session.answer({ ...found, altogether }, (view) => [
      ...holdsLines(view, selected, selection.waiting),
      ...(found.events > 0
        ? nextLines(view, optionsOf('holds', settings), (command) => session.toType(command))
        : []),
    ]);
    return exitCodes.fine;
  },
});
