import { asked, opsCommand } from '../ops-command.ts';
import { pausedTold } from '../render/pause.ts';

export const pause = opsCommand({
  of: 'pause',
  details:
    'Nothing is lost: changes made meanwhile are announced afterwards. status shows the reason, so it must not hold personal data.',
  examples: [['pause --stack prod --reason "partner migrates, ticket 4711"', 'for a maintenance']],
  run: asked('pause', (view, { changed, paused }) => [
    changed
      ? view.paint('warning', 'paused')
      : `It is ${pausedTold(view, paused)} (as it was before)`,
    'Ticks do nothing until resume. Nothing is lost: changes made meanwhile are announced then.',
  ]),
});

export const resume = opsCommand({
  of: 'resume',
  examples: [['resume --stack prod', 'the maintenance is over']],
  run: asked('resume', (view, { changed }) => [
    changed ? view.paint('good', 'resumed') : 'It was not paused.',
  ]),
});
