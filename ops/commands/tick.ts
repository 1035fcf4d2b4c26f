import { asked, opsCommand } from '../ops-command.ts';
import { tickLines } from '../render/tick.ts';

export const tick = opsCommand({
  of: 'tick',
  details: 'Safe at any time: while another tick is at work, this one does nothing.',
  examples: [['tick --stack prod', 'look for changes now']],
  run: asked('tick', tickLines),
});
