import * as z from 'zod';
import { flag } from '../../lambda/commands/words.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';

export const mcp = opsCommand({
  usage: 'mcp',
  isEndless: true,
  summary: 'Lets an assistant look at the deployment, through tools of the Model Context Protocol.',
  details:
    'Speaks the protocol on standard input and output, until the input ends. Each tool is a command and gives its answer, without personal data. With --allow-changes, there are also tools that change something: they answer with a preview until the assistant confirms it. docs/operations.md#assistants says how to add the server to an assistant.',
  examples: [
    ['mcp --stack prod', 'is anything wrong? why did nobody hear of 48213?'],
    ['mcp --stack prod --allow-changes', 'also releases, pauses, replays'],
  ],
  own: z.object({
    allowChanges: flag('offer the commands that change something, too'),
  }),
  async run(session, { allowChanges: allowsChanges }) {
    // Loaded only here, since no other command needs the protocol.
    const { serveMcp } = await import('../mcp/serve.ts');
    const { options, host } = session.origin;
    if (session.terminal.isAttended)
      session.note(() => [
        'Standard input is for an assistant; docs/operations.md#assistants says how to add one.',
      ]);
    await serveMcp({ host, options, allowsChanges });
    return exitCodes.fine;
  },
});
