import * as z from 'zod';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { follow } from '../following.ts';
import { opsCommand } from '../ops-command.ts';
import { day, nextOption } from '../options.ts';
import { proveCsv, proveLines, proveSum } from '../render/prove.ts';

export const prove = opsCommand({
  usage: 'prove',
  summary: 'The completeness certificate: each day with its proof, its count and its digest.',
  details: 'Ends with 1 when a day is without a proof.',
  examples: [
    ['prove --stack prod --from 2026-10-01 --to 2026-10-31', 'was October complete?'],
    ['prove --stack prod --from 2026-10-01 --to 2026-10-31 --now', 'read it again first'],
    ['prove --stack prod --from 2026-01-01 --to 2026-12-31 --csv > 2026.csv', 'for a spreadsheet'],
  ],
  declare: (command) =>
    command
      .option('--from <day>', 'first day', day)
      .option('--to <day>', 'last day', day)
      .option('--now', 'read all of these days again first; what differs is announced')
      .option('--csv', 'print CSV (--json prints JSON)')
      .addOption(nextOption(['from', 'to', 'now'])),
  settings: z.object({
    from: z.string().optional(),
    to: z.string().optional(),
    now: z.boolean().default(false),
    csv: z.boolean().default(false),
    next: z.record(z.string(), z.json()).optional(),
  }),
  async run(session, { from, to, now, csv, next }) {
    if (next === undefined && (from === undefined || to === undefined || from > to))
      throw new UsageError(
        'It is not said which days are meant.',
        'Give --from and --to, in order.',
      );
    const operator = await session.operator();
    const first = next ?? { from, to, now, ...(now && { by: await session.by() }) };
    using progress = session.progress('prove');
    let toRead = 0;
    const { result, stopped } = await follow(session, operator, 'prove', first, {
      sum: proveSum,
      onResult: (one) => {
        // What is left falls from call to call; the first answer is as near to all as can be known.
        toRead = Math.max(toRead, one.toRead);
        if (toRead > 0) progress.at(toRead - one.toRead, toRead, 'days');
      },
    });
    if (csv && stopped === undefined) session.terminal.print(proveCsv(result ?? { days: [] }));
    else session.conclude(result, (view) => proveLines(view, result), stopped);
    return (result?.unproven ?? 0) > 0 ? exitCodes.problem : exitCodes.fine;
  },
});
