import { Option } from 'commander';
import * as z from 'zod';
import { contract } from '../../lambda/commands/contract.ts';
import { eventsAtOnce } from '../../lambda/commands/events.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { follow } from '../following.ts';
import { opsCommand } from '../ops-command.ts';
import {
  addCsv,
  assessmentNames,
  csvSettings,
  day,
  deliveriesSchema,
  deliveryOption,
  ids,
  kindsSchema,
  positiveNumber,
  refuseBackwards,
  typeOption,
} from '../options.ts';
import { answeredWithinMs } from '../progress.ts';
import { eventsCsv, eventsLines, eventsSum } from '../render/events.ts';

/** The default of --limit. */
const shownAtFirst = 100;

export const events = opsCommand({
  usage: 'events',
  summary: contract.events.does,
  details:
    "Shows no personal data. The newest events may be missing for a moment, since the index of the ledger lags. Days are in the partner's time zone, by the time of the event. The name, the organization and the day of an assessment are its present ones. Of several options, all have to match.",
  examples: [
    ['events --stack prod', 'what was announced of late?'],
    ['events --stack prod --type withdrawn --organization 17', 'who was withdrawn there?'],
    [
      'events --stack prod --from 2026-10-01 --to 2026-10-31 --csv > october.csv',
      'for a spreadsheet',
    ],
  ],
  declare: (command) =>
    addCsv(
      command
        .option('--from <day>', 'first day (default: six days before the last)', day)
        .option('--to <day>', 'last day (default: today)', day)
        .addOption(typeOption('of these types'))
        .option('--organization <ids>', 'of these organizations', ids)
        .option(
          '--assessment <name>',
          'of the assessment of this name; may be given several times',
          assessmentNames,
        )
        .option('--late', 'only those that were late')
        .addOption(deliveryOption('with this delivery'))
        .option('--limit <number>', `how many at most (default: ${shownAtFirst})`, positiveNumber)
        .addOption(new Option('--all', 'all of these days').conflicts('limit')),
      'CSV, of all unless there is a --limit',
    ),
  settings: z.object({
    from: z.iso.date().optional(),
    to: z.iso.date().optional(),
    type: kindsSchema,
    organization: z.array(z.int()).optional(),
    assessment: z.array(z.string()).optional(),
    late: z.boolean().default(false),
    delivery: deliveriesSchema,
    limit: z.int().positive().optional(),
    all: z.boolean().default(false),
    ...csvSettings,
  }),
  async run(session, options) {
    const { from, to, type, organization, assessment, late, delivery, csv, bom } = options;
    refuseBackwards(from, to);
    if (csv && session.json)
      throw new UsageError('--csv and --json exclude each other.', 'Give one of them.');
    const isAll = options.all || csv;
    const most = options.limit ?? (isAll ? Number.POSITIVE_INFINITY : shownAtFirst);
    const client = await session.operateClient();
    using progress = session.progress('events', answeredWithinMs);
    const first = {
      ...{ from, to, types: type, organizations: organization, assessments: assessment, delivery },
      ...(late && { late }),
      limit: Math.min(most, eventsAtOnce),
    };
    const { result, stopped } = await follow(client, 'events', first, {
      ...{ stop: session.stop, progress, sum: eventsSum },
      goOn: (next, all) => {
        const left = most - (all?.events.length ?? 0);
        return next && left > 0 ? { ...next, limit: Math.min(left, eventsAtOnce) } : undefined;
      },
    });
    // The command changes nothing, so there is no work to resume.
    if (stopped !== undefined) throw stopped.cause;
    session.answer(result, (view) =>
      csv ? session.csv(eventsCsv(result), bom) : eventsLines(view, result),
    );
    return exitCodes.fine;
  },
});
