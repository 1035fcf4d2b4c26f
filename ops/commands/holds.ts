import * as z from 'zod';
import { contract } from '../../lambda/commands/contract.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { holdsLines, nextLines } from '../render/holds.ts';
import {
  countSelected,
  optionsOf,
  selecting,
  selectionOf,
  selectionSettings,
} from './selecting.ts';

export const holds = opsCommand({
  usage: 'holds',
  summary: contract.holds.does,
  details:
    "Shows no personal data. With --list, each event: the id of its assessment, its revision and type, the time since when it waits, and SNS's code if SNS has refused it.",
  examples: [
    ['holds --stack prod', 'what does the gate hold?'],
    ['holds --stack prod --undeliverable --list', 'what has SNS refused for good, and why?'],
  ],
  declare: (command) => selecting(command).option('--list', 'also each event by itself'),
  settings: z.object({ ...selectionSettings, list: z.boolean().default(false) }),
  async run(session, options) {
    const selection = selectionOf(options);
    const { list } = options;
    const client = await session.operateClient();
    const selected = await countSelected(session, client, selection, { list });
    const { found, altogether } = selected;
    session.answer({ ...found, altogether }, (view) => [
      ...holdsLines(view, selected, selection.waiting),
      ...(found.events > 0
        ? nextLines(view, optionsOf(options), (command) => session.toType(command))
        : []),
    ]);
    return exitCodes.fine;
  },
});
