import pMap from 'p-map';
import * as z from 'zod/mini';
import { type DayEntry, dayReads, proof } from '../detection/calendar.ts';
import type { Ledger } from '../ports/ledger.ts';
import { parse, renamed } from './item.ts';
import type { Plain, Table, Update } from './table.ts';

const writesAtOnce = 16;

/** The proof's fields and the others side by side. */
const reads = z.extend(z.partial(proof), dayReads.shape);

/** A month of the calendar: per day two numbers, and one map about the last read. */
const dayItem = z.object({
  count: z._default(z.int(), 0),
  /** By itself, so that only a read that looked for what is missing writes it. */
  missing: z.optional(z.int()),
  proof: z._default(reads, { readAt: 0 }),
});

const months = Array.from({ length: 12 }, (_, index) => String(index + 1).padStart(2, '0'));

/** The calendar of an integration, a month an item. */
export function calendar(table: Table, integration: string) {
  const keyOf = (month: string) => `CALENDAR#${integration}#${month}`;
  /** One update a month; days of one month are one item. */
  const updateMonths = async <Value>(
    byDay: ReadonlyMap<string, Value>,
    update: (days: readonly [string, Value][]) => Update,
  ) => {
    const byMonth = Map.groupBy(byDay, ([day]) => day.slice(0, 'YYYY-MM'.length));
    await pMap(byMonth, ([month, days]) => table.update(keyOf(month), update(days)), {
      concurrency: writesAtOnce,
    });
  };
  return {
    async calendar(years) {
      const keys = [...years].flatMap((year) =>
        months.map((month) => keyOf(`${String(year).padStart(4, '0')}-${month}`)),
      );
      return new Map((await table.getAll(keys)).flatMap(parseMonth));
    },
    async saveDays(entries) {
      await updateMonths(entries, (days) => ({
        set: Object.fromEntries(days.flatMap(([day, entry]) => attributesOf(day, entry))),
      }));
    },
    async addToDays(deltas) {
      await updateMonths(deltas, (days) => ({
        add: Object.fromEntries(days.map(([day, delta]) => [`count:${day}`, delta])),
      }));
    },
  } satisfies Partial<Ledger>;
}

function attributesOf(day: string, entry: DayEntry): [name: string, value: unknown][] {
  const { count, missing, proof, ...read } = entry;
  return [
    [`count:${day}`, count],
    [`proof:${day}`, renamed(z.encode(reads, { ...read, ...proof }))],
    ...(missing === undefined ? [] : [[`missing:${day}`, missing] as [string, unknown]]),
  ];
}

function parseMonth(item: Plain): [day: string, entry: DayEntry][] {
  const days = Object.keys(item).flatMap((name) => /^(?:count|proof):(.+)$/.exec(name)?.[1] ?? []);
  return [...new Set(days)].map((day) => {
    const { count, missing, proof } = parse(dayItem, item, {
      count: item[`count:${day}`],
      missing: item[`missing:${day}`],
      proof: renamed(item[`proof:${day}`]),
    });
    const { kind, at, count: found, ...read } = proof;
    const isProven = kind !== undefined && at !== undefined && found !== undefined;
    return [
      day,
      {
        ...read,
        count,
        ...(missing !== undefined && { missing }),
        ...(isProven && { proof: { kind, at, count: found } }),
      },
    ];
  });
}
