import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';

/** How far a command has come that goes from day to day, oldest first. */
export class DaysDone {
  #from: Temporal.PlainDate | undefined;
  readonly #to: string | undefined;

  /**
   * @param command its days; open to the past, the first day that it has reached is as near to the
   * beginning as can be known
   */
  constructor(command: object) {
    const { days, after } = commandOfDays.parse(command);
    const from = after ?? days?.from;
    this.#from = from === undefined ? undefined : Temporal.PlainDate.from(from);
    this.#to = days?.to;
  }

  /** @param after the cursor, which begins with a day; undefined: nobody knows */
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

/** Whatever else it is, the function says. */
const commandOfDays = z
  .object({
    days: z.object({ from: z.iso.date().optional(), to: z.iso.date().optional() }).optional(),
    after: z.string().transform(dayOf).pipe(z.iso.date()).optional(),
  })
  .catch({});
