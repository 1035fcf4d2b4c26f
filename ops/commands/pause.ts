import { asked, opsCommand } from '../ops-command.ts';
import { pauseLines, resumeLines } from '../render/pause.ts';

export const pause = opsCommand({
  of: 'pause',
  details:
    'Nothing is lost: changes made meanwhile are announced afterwards. status shows the reason, so it must not hold personal data.',
  examples: [['pause --stack prod --reason "partner migrates, ticket 4711"', 'for a maintenance']],
  run: asked('pause', pauseLines),
});

export const resume = opsCommand({
  of: 'resume',
  examples: [['resume --stack prod', 'the maintenance is over']],
  run: asked('resume', resumeLines),
});
