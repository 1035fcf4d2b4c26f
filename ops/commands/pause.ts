import * as z from 'zod';
import { contract } from '../../lambda/commands/contract.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { sentence } from '../options.ts';
import { pauseLines, resumeLines } from '../render/pause.ts';

export const pause = opsCommand({
  usage: 'pause',
  changes: {},
  summary: contract.pause.does,
  details:
    'Nothing is lost: changes made meanwhile are announced afterwards. status shows the reason, so it must not hold personal data.',
  examples: [['pause --stack prod --reason "partner migrates, ticket 4711"', 'for a maintenance']],
  declare: (command) =>
    command.requiredOption('--reason <text>', 'why, for those who read the status', sentence),
  settings: z.object({ reason: z.string() }),
  async run(session, { reason }) {
    const client = await session.operateClient();
    const result = await session.ask(client, 'pause', { reason, by: await session.by() });
    session.answer(result, (view) => pauseLines(view, result));
    return exitCodes.fine;
  },
});

export const resume = opsCommand({
  usage: 'resume',
  changes: {},
  summary: contract.resume.does,
  examples: [['resume --stack prod', 'the maintenance is over']],
  declare: (command) => command.option('--reason <text>', 'why, for the record', sentence),
  settings: z.object({ reason: z.string().optional() }),
  async run(session, { reason }) {
    const client = await session.operateClient();
    const result = await session.ask(client, 'resume', {
      ...(reason !== undefined && { reason }),
      by: await session.by(),
    });
    session.answer(result, (view) => resumeLines(view, result));
    return exitCodes.fine;
  },
});
