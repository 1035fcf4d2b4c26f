import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import type { DayEntry } from '../detection/calendar.ts';
import type { DayRange } from '../detection/days.ts';
import type { Ledger, Life } from '../ports/ledger.ts';
import type { CommandOf } from './contract.ts';
import { kindOfLast } from './replayed-event.ts';

type ReplayCommand = CommandOf<'replay'>;

/** So many assessments are one request, if they are read as a range: one less than a page. */
const rowsTogether = 99;
/** Days of one slice; each is a Query of the ledger. */
const daysTogether = 100;
/** The last that there can be: of what is not dated yet, some hosts say so. */
const lastDay = '9999-12-31';
const queriesAtOnce = 8;

/** Certifications that are replayed together. */
export interface Slice {
  /** By day, and by id within a day: the order in which a replay goes on. */
  readonly lives: readonly Life[];
  /** The cursor behind all of it, also behind what was not selected. */
  readonly end: string | undefined;
  /** The days that hold them, and how many requests about it takes to read these; none: by id. */
  readonly read?: { readonly range: DayRange; readonly requests: number };
  /** How many of the ids that were asked for the ledger does not know. */
  readonly unknown: number;
}

/**
 * What the ledger knows of the selected days, ids, organizations and types, from the oldest day on,
 * and only what comes after the cursor. Read from the ledger as it goes: a replay of everything holds
 * one slice of it.
 *
 * @param years that the calendar has entries of
 */
export async function* slices(
  ledger: Ledger,
  years: readonly number[],
  command: ReplayCommand,
): AsyncGenerator<Slice> {
  const { ids } = command;
  if (ids !== undefined) {
    const known = await ledger.lives(ids);
    const lives = selected(known, command);
    const end = lives.map(cursorAt).at(-1) ?? command.after;
    yield { lives, end, unknown: new Set(ids).size - known.size };
    return;
  }
  for (const { days, rows } of packed(await daysOf(ledger, years, command))) {
    const [first = '', last = first] = [days[0], days.at(-1)];
    const indexed = await pMap(days, (day) => ledger.knownOfDay(day), {
      concurrency: queriesAtOnce,
    });
    const lives = await ledger.lives(indexed.flatMap((ofDay) => [...ofDay.keys()]));
    yield {
      // The index lags: what has left these days since is met on the day that it is on.
      lives: selected(lives, command).filter(({ certification: { day } }) => days.includes(day)),
      end: last,
      unknown: 0,
      read: {
        range: { from: Temporal.PlainDate.from(first), to: Temporal.PlainDate.from(last) },
        requests: Math.ceil((rows + 1) / (rowsTogether + 1)),
      },
    };
  }
}

function selected(lives: ReadonlyMap<number, Life>, command: ReplayCommand): Life[] {
  const { organizations, types, days, after } = command;
  return [...lives.values()]
    .filter((life) => {
      const { id, day, organization_id } = life.certification;
      const kind = kindOfLast(life);
      return (
        isWithin(day, days) &&
        (organizations?.some((one) => one === organization_id) ?? true) &&
        (types?.some((type) => type === kind) ?? true) &&
        isAhead(day, id, after)
      );
    })
    .sort(({ certification: a }, { certification: b }) =>
      a.day === b.day ? a.id - b.id : a.day < b.day ? -1 : 1,
    );
}

/** Where a replay that has come to this certification goes on: see `after` of the command. */
export const cursorAt = ({ certification: { day, id } }: Life) => `${day}/${id}`;

/** Whether a replay that has come to the cursor has this still before it. */
function isAhead(day: string, id: number, cursor = ''): boolean {
  const [reached = '', lastId = Number.POSITIVE_INFINITY] = cursor.split('/');
  return day > reached || (day === reached && id > Number(lastId));
}

function isWithin(day: string, { from = '', to = lastDay }: ReplayCommand['days'] = {}): boolean {
  return day >= from && day <= to;
}

/** Every day that anything was ever recorded on is in the calendar. */
async function daysOf(
  ledger: Ledger,
  years: readonly number[],
  { days, after }: ReplayCommand,
): Promise<[day: string, entry: DayEntry][]> {
  const yearOf = (day: string) => Number(day.slice(0, 4));
  const { from = '', to = lastDay } = days ?? {};
  const entries = await ledger.calendar(
    years.filter((year) => year >= yearOf(from) && year <= yearOf(to)),
  );
  return [...entries]
    .filter(([day]) => isWithin(day, days) && isAhead(day, Number.POSITIVE_INFINITY, after))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Runs of days that can be read with one request; a day of more is alone. */
function* packed(entries: readonly [day: string, entry: DayEntry][]) {
  let days: string[] = [];
  let rows = 0;
  for (const [day, { count }] of entries) {
    if (days.length === daysTogether || (days.length > 0 && rows + count > rowsTogether)) {
      yield { days, rows };
      days = [];
      rows = 0;
    }
    days.push(day);
    rows += count;
  }
  if (days.length > 0) yield { days, rows };
}
