import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import type { DayEntry } from '../detection/calendar.ts';
import type { Certification } from '../detection/compare.ts';
import type { DayRange } from '../detection/days.ts';
import type { Life } from '../ports/ledger.ts';
import type { CommandOf } from './contract.ts';
import type { LedgerReader } from './parts.ts';
import { lastRevision, typeOf } from './replayed-event.ts';

/** So many assessments are one request, if they are read as a range: one less than a page. */
const rowsTogether = 99;
/** Days of one slice; each is a Query of the ledger. */
const daysTogether = 100;
const queriesAtOnce = 8;

/** Certifications that are replayed together. */
export interface Slice {
  /** By day, and by id within a day: the order in which a replay goes on. */
  readonly lives: readonly Life[];
  /** The cursor behind all of it, also behind what was not selected. */
  readonly end?: string;
  /** The days that hold them, and how many requests about it takes to read these; none: by id. */
  readonly read?: { readonly range: DayRange; readonly requests: number };
  /** How many of the ids that were asked for the ledger does not know. */
  readonly unknown?: number;
}

/**
 * What the ledger knows of the selected days, ids, organizations and types, from the oldest day on,
 * and only what comes after the cursor. Read from the ledger as it goes: a replay of everything holds
 * one slice of it.
 *
 * @param years that the calendar has entries of
 */
export async function* slices(
  ledger: LedgerReader,
  years: readonly number[],
  command: CommandOf<'replay'>,
): AsyncGenerator<Slice> {
  const { ids, organizations, types } = command;
  const isWanted = (life: Life) => {
    const { certification } = life;
    const revision = lastRevision(life);
    return (
      isWithin(certification.day, command.days ?? {}) &&
      (organizations?.some((id) => id === certification.organization_id) ?? true) &&
      (types === undefined || (revision !== undefined && types.includes(typeOf(revision)))) &&
      isAfter(certification, command.after)
    );
  };

  if (ids !== undefined) {
    const lives = await ledger.lives(ids);
    yield {
      lives: [...lives.values()].filter(isWanted).sort(inOrder),
      unknown: new Set(ids).size - lives.size,
    };
    return;
  }
  for (const { days, rows } of packed(await daysOf(ledger, years, command))) {
    const [first, last] = [days[0], days.at(-1)];
    if (first === undefined || last === undefined) continue;
    const indexed = await pMap(days, (day) => ledger.knownOfDay(day), {
      concurrency: queriesAtOnce,
    });
    const lives = await ledger.lives(indexed.flatMap((ofDay) => [...ofDay.keys()]));
    const inSlice = new Set(days);
    yield {
      // The index lags: what has left these days since is met on the day that it is on.
      lives: [...lives.values()]
        .filter((life) => inSlice.has(life.certification.day) && isWanted(life))
        .sort(inOrder),
      end: last,
      read: {
        range: { from: Temporal.PlainDate.from(first), to: Temporal.PlainDate.from(last) },
        requests: Math.ceil((rows + 1) / (rowsTogether + 1)),
      },
    };
  }
}

/** Where a replay that has come to this certification goes on: see `CommandOf<'replay'>.after`. */
export const cursorAt = ({ certification: { day, id } }: Life) => `${day}/${id}`;

function isAfter({ day, id }: Certification, cursor: string | undefined): boolean {
  if (cursor === undefined) return true;
  const [last = '', lastId = Number.POSITIVE_INFINITY] = cursor.split('/');
  return places({ day, id }, { day: last, id: Number(lastId) }) > 0;
}

const inOrder = (a: Life, b: Life) => places(a.certification, b.certification);

type Place = Pick<Certification, 'day' | 'id'>;

function places(a: Place, b: Place): number {
  return a.day === b.day ? a.id - b.id : a.day < b.day ? -1 : 1;
}

function isWithin(day: string, { from, to }: NonNullable<CommandOf<'replay'>['days']>): boolean {
  return (from === undefined || day >= from) && (to === undefined || day <= to);
}

/** Every day that anything was ever recorded on is in the calendar. */
async function daysOf(
  ledger: LedgerReader,
  years: readonly number[],
  { days = {}, after }: CommandOf<'replay'>,
): Promise<[day: string, entry: DayEntry][]> {
  const [cursorDay = '', isWithinDay] = after?.split('/') ?? [];
  const yearOf = (day: string) => Number(day.slice(0, 4));
  const entries = await ledger.calendar(
    years.filter(
      (year) =>
        year >= (days.from === undefined ? year : yearOf(days.from)) &&
        year <= (days.to === undefined ? year : yearOf(days.to)),
    ),
  );
  return [...entries]
    .filter(
      ([day]) =>
        isWithin(day, days) &&
        (day > cursorDay || (day === cursorDay && isWithinDay !== undefined)),
    )
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
