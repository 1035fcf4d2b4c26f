import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';

/** The progress of a command that goes through days, oldest first. */
export class DaysDone {
  #from: Temporal.PlainDate | undefined;
  readonly #to: string | undefined;

  /**
   * @param command has the days; if they are open to the past, the first day that it reaches counts as the beginning
   */
  constructor(command: object) {
    const { days, after } = commandOfDays.parse(command);
    const from = after ?? days?.from;
    this.#from = from === undefined ? undefined : Temporal.PlainDate.from(from);
    this.#to = days?.to;
  }

  /** @param after the cursor, which begins with a day; undefined: the progress is unknown */
  upTo(after: string | undefined, today: Temporal.PlainDate) {
    if (after === undefined) return undefined;
    const reached = Temporal.PlainDate.from(dayOf(after));
    this.#from ??= reached;
    const from = this.#from;
    const daysTo = (day: Temporal.PlainDate) => from.until(day, { largestUnit: 'days' }).days;
    const to = this.#to === undefined ? today : Temporal.PlainDate.from(this.#to);
    return { done: daysTo(reached), total: daysTo(to) };
  }
}

const dayOf = (cursor: string) => cursor.slice(0, '2026-11-21'.length);

/** Reads only the days. An invalid command has none here; the function reports it. */
const commandOfDays = z
  .object({
    days: z.object({ from: z.iso.date().optional(), to: z.iso.date().optional() }).optional(),
    after: z.string().transform(dayOf).pipe(z.iso.date()).optional(),
  })
  .catch({});
