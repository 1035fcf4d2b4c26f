import * as z from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';

export const mcp = opsCommand({
  usage: 'mcp',
  isEndless: true,
  summary: 'Lets an assistant look, as tools of the Model Context Protocol.',
  details:
    'Speaks the protocol on standard input and output, until these end. Each tool is a command, and answers what the command answers: no personal data. With --allow-changes also those that change something, which answer with a preview until the assistant confirms it. docs/operations.md#assistants has how to add it to assistants.',
  examples: [
    ['mcp --stack prod', 'is anything wrong? why did nobody hear of 48213?'],
    ['mcp --stack prod --allow-changes', 'also releases, pauses, replays'],
  ],
  declare: (command) =>
    command.option('--allow-changes', 'offer the commands that change something, too'),
  settings: z.object({ allowChanges: z.boolean().default(false) }),
  async run(session, { allowChanges: allowsChanges }) {
    // Loaded here only: no other command needs the protocol.
    const { serveMcp } = await import('../mcp/serve.ts');
    const { options, host } = session.origin;
    if (session.terminal.isAttended)
      session.note(() => [
        'Standard input is for an assistant; docs/operations.md#assistants says how it is added.',
      ]);
    await serveMcp({ host, options, allowsChanges });
    return exitCodes.fine;
  },
});
