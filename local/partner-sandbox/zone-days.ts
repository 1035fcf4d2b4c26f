import { Temporal } from 'temporal-polyfill';
import { SandboxRequestError } from './errors.ts';

const utcDay = 86_400_000;
const epoch = Temporal.PlainDate.from('1970-01-01');

/** A date as the number of days since 1970-01-01, which sorts and indexes better than text. */
export type DayNumber = number;

/** @returns undefined unless `text` is a real date written `YYYY-MM-DD`. */
export function parseDay(text: string): DayNumber | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const instant = Date.parse(`${text}T00:00:00Z`);
  // Date.parse turns 31 February into a day of March; the round trip shows that.
  if (Number.isNaN(instant) || new Date(instant).toISOString().slice(0, 10) !== text) {
    return undefined;
  }
  return instant / utcDay;
}

/** @throws SandboxRequestError unless `text` is a real date written `YYYY-MM-DD`. */
export function requireDay(text: string): DayNumber {
  const day = parseDay(text);
  if (day === undefined) throw new SandboxRequestError('A day is a real date, YYYY-MM-DD.');
  return day;
}

const written = new Map<DayNumber, string>();

/** `YYYY-MM-DD`. */
export function writeDay(day: DayNumber): string {
  let text = written.get(day);
  if (text === undefined) {
    text = new Date(day * utcDay).toISOString().slice(0, 10);
    written.set(day, text);
  }
  return text;
}

/**
 * The instants of a date in the partner's time zone (docs/partner.md, 4.2, filter rule 3). A day has 23, 24 or 25
 * hours, and some zones have skipped one entirely. So nothing here divides by 24 hours: the zone says when a day
 * starts. Starts are remembered, because a million instants fall on few days.
 */
export class ZoneDays {
  readonly timeZone: string;
  readonly #starts = new Map<DayNumber, number>();

  /** @throws RangeError when the runtime does not know the zone. */
  constructor(timeZone: string) {
    this.timeZone = timeZone;
    this.startOf(0);
  }

  /** The first instant of the day, in epoch milliseconds. */
  startOf(day: DayNumber): number {
    let start = this.#starts.get(day);
    if (start === undefined) {
      start = epoch.add({ days: day }).toZonedDateTime(this.timeZone).epochMilliseconds;
      this.#starts.set(day, start);
    }
    return start;
  }

  /** The date that an instant (epoch milliseconds) falls on. */
  dayOf(instant: number): DayNumber {
    let day = Math.floor(instant / utcDay);
    while (this.startOf(day) > instant) day--;
    while (this.startOf(day + 1) <= instant) day++;
    return day;
  }
}

/** @throws SandboxRequestError when the runtime does not know the zone. */
export function requireZone(timeZone: string): ZoneDays {
  try {
    return new ZoneDays(timeZone);
  } catch (cause) {
    throw new SandboxRequestError(`There is no time zone named ${timeZone}.`, { cause });
  }
}
