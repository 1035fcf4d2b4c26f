import * as z from 'zod';
import { eventsAtOnce } from '../../lambda/commands/events.ts';
import { id } from '../../lambda/commands/shapes.ts';
import { flag, setting } from '../../lambda/commands/words.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { follow } from '../following.ts';
import { csvOf, rangeIn } from '../input.ts';
import { opsCommand } from '../ops-command.ts';
import { answeredWithinMs } from '../progress.ts';
import { eventsCsv, eventsLines, eventsSum } from '../render/events.ts';

/** The default of --limit. */
const shownAtFirst = 100;

export const events = opsCommand({
  of: 'events',
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
  own: z.object({
    limit: setting(z.optional(id), `how many at most (default: ${shownAtFirst})`),
    all: flag('all of these days', { excludes: ['limit'] }),
    ...csvOf('CSV, of all unless there is a --limit'),
  }),
  async run(session, { csv, bom, ...options }, settings) {
    rangeIn(settings);
    if (csv && session.json)
      throw new UsageError('--csv and --json exclude each other.', 'Give one of them.');
    const isAll = options.all || csv;
    const most = options.limit ?? (isAll ? Number.POSITIVE_INFINITY : shownAtFirst);
    const client = await session.operateClient();
    using progress = session.progress('events', answeredWithinMs);
    const first = { ...settings, limit: Math.min(most, eventsAtOnce) };
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
