import { once } from 'node:events';
import * as z from 'zod';
import { setting } from '../../lambda/commands/words.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';

export const console = opsCommand({
  usage: 'console',
  isEndless: true,
  summary:
    'Serves the console: pages for a browser that show the deployment and give its commands.',
  details:
    'Listens on this machine only, until Ctrl-C. The printed address gives anybody your own rights: keep it to yourself.',
  examples: [
    ['console --stack prod', 'look at a deployment'],
    ['console --stack prod --port 8080', 'always at the same address'],
  ],
  own: z.object({
    port: setting(
      z.int().min(0).max(65_535).optional(),
      'where it answers (default: 4380, or the next free one)',
      { allowed: 'a port, from 0 to 65535; 0 is any that is free' },
    ),
  }),
  async run(session, { port }) {
    // Loaded only here, since no other command needs the console.
    const { DeploymentDoor, serveConsole } = await import('../../console/index.ts');
    const { name } = await session.target();
    const { options, host } = session.origin;
    using door = new DeploymentDoor({ ...options, title: name }, host);
    await using served = await serveConsole(door, port);
    await served.load();
    session.answer({ url: served.url }, (view) => [
      view.paint('strong', served.url),
      'Open it in a browser. Ctrl-C ends it.',
    ]);
    if (!session.stop.aborted) await once(session.stop, 'abort');
    return exitCodes.fine;
  },
});
