import * as z from 'zod';
import { queueArn } from '../../lambda/commands/replay.ts';
import { day } from '../../lambda/commands/shapes.ts';
import { flag, setting } from '../../lambda/commands/words.ts';
import { daysDone } from '../days-done.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { follow, operationName } from '../following.ts';
import { nextOf, rangeIn } from '../input.ts';
import { opsCommand } from '../ops-command.ts';
import { answeredWithinMs } from '../progress.ts';
import { replayLines, replaySum } from '../render/replay.ts';

const target = z.object({
  from: setting(z.optional(day), 'certified on this day or later'),
  to: setting(z.optional(day), 'certified on this day or earlier'),
  all: flag('all of history'),
  queue: setting(z.optional(queueArn), 'to this queue alone (default: to every subscriber)'),
});

export const replay = opsCommand({
  of: 'replay',
  isFinal: true,
  details:
    'Events keep their ids and are marked as replays, so a subscriber that handles each id once is safe. See docs/subscribing.md#replays. Ends with 3 when an --id is not known here; the others are sent.',
  examples: [
    ['replay --stack prod --from 2026-11-01 --to 2026-11-15 --dry-run', 'what would be sent?'],
    ['replay --stack prod --id 48213,48220', 'the last events of two assessments'],
    [
      'replay --stack prod --all --baseline --queue arn:aws:sqs:us-east-1:111122223333:new',
      'everything, to a subscriber that starts from nothing',
    ],
  ],
  first: target,
  own: z.object(nextOf('replay')),
  async run(session, { next, ...targeted }, settings) {
    const first = next ?? firstCall(targeted, settings);
    const client = await session.operateClient();
    const by = await session.by();
    using progress = session.progress('replay', answeredWithinMs);
    const done = daysDone(first);
    const followed = await follow(
      client,
      'replay',
      { ...first, by },
      {
        stop: session.stop,
        progress,
        sum: replaySum,
        onResult: (one) => {
          const part = done(
            one.next?.after,
            session.clock.now().toZonedDateTimeISO('UTC').toPlainDate(),
          );
          if (part !== undefined) progress.at(part.done, part.total, 'days');
        },
      },
    );
    session.conclude(followed, replayLines);
    return (followed.result?.skipped.unknown ?? 0) > 0 ? exitCodes.notFound : exitCodes.fine;
  },
});

function firstCall({ all, queue, ...days }: z.output<typeof target>, settings: object): object {
  const { from, to } = rangeIn(days);
  const isOfDays = from !== undefined || to !== undefined;
  const isSelected = isOfDays || ['ids', 'organizations', 'types'].some((one) => one in settings);
  if (isSelected === all)
    throw new UsageError(
      all ? '--all excludes any other selection.' : 'The events to replay are not selected.',
      'Give --from, --to, --id, --organization or --type, or --all for all of history.',
    );
  return {
    ...settings,
    ...((all || isOfDays) && { days: { from, to } }),
    ...(queue !== undefined && { to: { queue } }),
    operation: operationName(),
  };
}
