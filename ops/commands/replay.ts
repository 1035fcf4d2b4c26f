import * as z from 'zod';
import type { ResultOf } from '../../lambda/commands/contract.ts';
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
import { facts, type View } from '../render/layout.ts';
import { added, count, counts } from '../render/text.ts';

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

type Replay = ResultOf<'replay'>;

const reasons: Readonly<Required<Record<keyof Replay['skipped'], string>>> = {
  changed: 'changed since: a tick will announce them',
  pending: 'pending: the next tick delivers them',
  held: 'held: release or discard them',
  undeliverable: 'refused by SNS for good',
  discarded: 'discarded, or released to people alone',
  neverAnnounced: 'never announced (--baseline sends them, too)',
  unreadable: 'malformed at the partner',
  withoutHistory: 'recorded by a version without history',
  refused: 'refused by the target for good',
  unknown: 'not known here: `explain` asks the partner for them',
};

function replaySum(all: Replay | undefined, one: Replay): Replay {
  return {
    ...one,
    events: one.events + (all?.events ?? 0),
    byType: added(all?.byType, one.byType),
    skipped: added(all?.skipped, one.skipped),
  };
}

/** The number of events that were sent, and of the others by reason. */
function replayLines(view: View, replay: Replay): string[] {
  const { dryRun, events, byType, skipped } = replay;
  const what = `${count(events, 'event')} ${dryRun ? 'would be sent' : 'sent'}`;
  return [
    `${view.paint('strong', what)}${events > 0 ? `: ${counts(byType)}` : ''}`,
    ...(Object.keys(skipped).length > 0 ? ['not sent:'] : []),
    ...facts(
      view,
      Object.entries(reasons).flatMap(([reason, text]): [string, string][] =>
        Object.entries(skipped)
          .filter(([name]) => name === reason)
          .map(([, number]) => [String(number), text]),
      ),
    ),
  ];
}
