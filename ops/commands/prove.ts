import * as z from 'zod';
import { certificateYears, fitsOneCertificate } from '../../lambda/commands/prove.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { follow, operationName } from '../following.ts';
import { csvOf, nextOf, rangeIn } from '../input.ts';
import { opsCommand } from '../ops-command.ts';
import { answeredWithinMs } from '../progress.ts';
import {
  type CountedCertificate,
  countedCertificate,
  proveCsv,
  proveLines,
  proveSum,
} from '../render/prove.ts';

/**
 * The days of a certificate. @throws UsageError if a day is missing, if they are the wrong way round, or if they are
 * too many
 */
export function daysOf(given: object) {
  const { from, to } = rangeIn(given);
  if (from === undefined || to === undefined)
    throw new UsageError('The days are missing.', 'Give --from and --to.');
  if (!fitsOneCertificate({ from, to }))
    throw new UsageError(
      `A certificate covers ${certificateYears} years at most.`,
      'Give a later --from or an earlier --to; make certificates of several ranges for more.',
    );
  return { from, to };
}

export const prove = opsCommand({
  of: 'prove',
  details: `Covers ${certificateYears} years at most. Ends with 1 when a day that is over is not proven. Today is proven only so far; future days count neither as proven nor as unproven.`,
  examples: [
    ['prove --stack prod --from 2026-10-01 --to 2026-10-31', 'was October complete?'],
    ['prove --stack prod --from 2026-10-01 --to 2026-10-31 --now', 'read it again first'],
    ['prove --stack prod --from 2026-01-01 --to 2026-12-31 --csv > 2026.csv', 'for a spreadsheet'],
  ],
  own: z.object({ ...nextOf('prove'), ...csvOf('CSV') }),
  async run(session, { csv, bom, next }, settings) {
    const now = settings['now'] === true;
    const first = next ?? {
      ...{ ...daysOf(settings), now },
      ...(now && { operation: operationName() }),
    };
    if (csv && session.json)
      throw new UsageError('--csv and --json exclude each other.', 'Give one of them.');
    const client = await session.operateClient();
    // The person who goes on may not be the one who began.
    const by = now || next?.now === true ? { by: await session.by() } : {};
    using progress = session.progress('prove', answeredWithinMs);
    let toRead = 0;
    const followed = await follow(
      client,
      'prove',
      { ...first, ...by },
      {
        stop: session.stop,
        progress,
        sum: proveSum,
        onResult: (one) => {
          // `toRead` falls from call to call, so its maximum, at the first answer, stands for all days.
          toRead = Math.max(toRead, one.toRead);
          if (toRead > 0) progress.at(toRead - one.toRead, toRead, 'days');
        },
      },
    );
    const { stopped } = followed;
    const told =
      stopped === undefined
        ? { result: countedCertificate(followed.result) }
        : { result: followed.result && countedCertificate(followed.result), stopped };
    session.conclude<CountedCertificate>(told, (view, result) =>
      csv && stopped === undefined ? session.csv(proveCsv(result), bom) : proveLines(view, result),
    );
    return (told.result?.unproven ?? 0) > 0 ? exitCodes.problem : exitCodes.fine;
  },
});
