import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';

/**
 * The progress of a command that goes through days, oldest first.
 *
 * @param command has the days; if they are open to the past, the first day that it reaches counts as the beginning
 * @returns tells the progress by the cursor, which begins with a day; undefined: the progress is unknown
 */
export function daysDone(command: object) {
  const { days, after: begun } = commandOfDays.parse(command);
  let first = begun ?? days?.from;
  return (after: string | undefined, today: Temporal.PlainDate) => {
    if (after === undefined) return undefined;
    const reached = dayOf(after);
    first ??= reached;
    const from = Temporal.PlainDate.from(first);
    const daysTo = (day: Temporal.PlainDate | string) =>
      from.until(day, { largestUnit: 'days' }).days;
    return { done: daysTo(reached), total: daysTo(days?.to ?? today) };
  };
}

const dayOf = (cursor: string) => cursor.slice(0, '2026-11-21'.length);

/** Reads only the days. An invalid command has none here; the function reports it. */
const commandOfDays = z
  .object({
    days: z.object({ from: z.iso.date().optional(), to: z.iso.date().optional() }).optional(),
    after: z.string().transform(dayOf).pipe(z.iso.date()).optional(),
  })
  .catch({});
