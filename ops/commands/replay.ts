import * as z from 'zod';
import { type CommandInput, contract } from '../../lambda/commands/contract.ts';
import { DaysDone } from '../days-done.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { follow, operationName } from '../following.ts';
import { opsCommand } from '../ops-command.ts';
import {
  addNext,
  day,
  eventsPerSecond,
  ids,
  kindsSchema,
  nextSchema,
  queueArn,
  refuseBackwards,
  typeOption,
} from '../options.ts';
import { answeredWithinMs } from '../progress.ts';
import { replayLines, replaySum } from '../render/replay.ts';

const settings = z.object({
  from: z.iso.date().optional(),
  to: z.iso.date().optional(),
  all: z.boolean().default(false),
  id: z.array(z.int()).optional(),
  organization: z.array(z.int()).optional(),
  type: kindsSchema,
  baseline: z.boolean().default(false),
  queue: z.string().optional(),
  eventsPerSecond: z.int().optional(),
  dryRun: z.boolean().default(false),
  next: nextSchema,
});

export const replay = opsCommand({
  usage: 'replay',
  changes: { isFinal: true },
  summary: contract.replay.does,
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
  declare: (command) =>
    addNext(
      'replay',
      command
        .option('--from <day>', 'certified on this day or later', day)
        .option('--to <day>', 'certified on this day or earlier', day)
        .option('--all', 'all of history')
        .option('--id <ids>', 'these assessments', ids)
        .option('--organization <ids>', 'of these organizations', ids)
        .addOption(typeOption('whose last event was of these types'))
        .option('--baseline', 'also certifications that the baseline recorded without an event')
        .option('--queue <arn>', 'to this queue alone (default: to every subscriber)', queueArn)
        .addOption(eventsPerSecond())
        .option('--dry-run', 'count the events, and send none'),
    ),
  settings,
  async run(session, options) {
    const { next } = options;
    const first = next ?? firstCall(options);
    const client = await session.operateClient();
    const by = await session.by();
    using progress = session.progress('replay', answeredWithinMs);
    const done = new DaysDone(first);
    const followed = await follow(
      client,
      'replay',
      { ...first, by },
      {
        stop: session.stop,
        progress,
        sum: replaySum,
        onResult: (one) => {
          const part = done.upTo(
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

function firstCall(options: z.output<typeof settings>): CommandInput {
  const { all, queue, baseline, dryRun, eventsPerSecond } = options;
  const { from, to, id: ids, organization: organizations, type: types } = options;
  refuseBackwards(from, to);
  const isSelected = [from, to, ids, organizations, types].some((one) => one !== undefined);
  if (isSelected === all)
    throw new UsageError(
      all ? '--all excludes any other selection.' : 'The events to replay are not selected.',
      'Give --from, --to, --id, --organization or --type, or --all for all of history.',
    );
  return {
    command: 'replay',
    baseline,
    dryRun,
    operation: operationName(),
    days: all ? {} : daysOf(from, to),
    ids,
    organizations,
    types,
    to: queue === undefined ? undefined : { queue },
    eventsPerSecond,
  };
}

const daysOf = (from: string | undefined, to: string | undefined) =>
  from === undefined && to === undefined ? undefined : { from, to };
