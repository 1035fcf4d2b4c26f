import pMap from 'p-map';
import type { DayEntry } from '../detection/calendar.ts';
import {
  calendarKey,
  countAttribute,
  missingAttribute,
  parseMonth,
  proofAttribute,
  proofItemOf,
} from './calendar-item.ts';
import { updateOf } from './expressions.ts';
import type { Table } from './table.ts';

const months = Array.from({ length: 12 }, (_, index) => String(index + 1).padStart(2, '0'));
const writesAtOnce = 16;

/** The calendar of an integration, a month an item. */
export class CalendarMonths {
  readonly #table: Table;
  readonly #integration: string;

  constructor(table: Table, integration: string) {
    this.#table = table;
    this.#integration = integration;
  }

  async read(years: readonly number[]): Promise<ReadonlyMap<string, DayEntry>> {
    const keys = years.flatMap((year) =>
      months.map((month) =>
        calendarKey(this.#integration, `${String(year).padStart(4, '0')}-${month}`),
      ),
    );
    const items = await this.#table.getAll(keys);
    return new Map(items.flatMap(parseMonth));
  }

  async save(entries: ReadonlyMap<string, DayEntry>): Promise<void> {
    await this.#updateMonths(entries, (days) => {
      const attributes = days.flatMap(([day, entry]) => [
        [countAttribute(day), entry.count] as const,
        [proofAttribute(day), proofItemOf(entry)] as const,
        ...(entry.missing === undefined ? [] : [[missingAttribute(day), entry.missing] as const]),
      ]);
      return updateOf(Object.fromEntries(attributes));
    });
  }

  async add(deltas: ReadonlyMap<string, number>): Promise<void> {
    await this.#updateMonths(deltas, (days) => ({
      UpdateExpression: `ADD ${days.map((_, index) => `#d${index} :d${index}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(
        days.map(([day], index) => [`#d${index}`, countAttribute(day)]),
      ),
      values: Object.fromEntries(days.map(([, delta], index) => [`:d${index}`, delta])),
    }));
  }

  /** One update a month; days of one month are one item. */
  async #updateMonths<Value>(
    byDay: ReadonlyMap<string, Value>,
    update: (days: readonly (readonly [string, Value])[]) => Parameters<Table['update']>[1],
  ): Promise<void> {
    const byMonth = Map.groupBy(byDay, ([day]) => day.slice(0, 'YYYY-MM'.length));
    await pMap(
      byMonth,
      ([month, days]) => this.#table.update(calendarKey(this.#integration, month), update(days)),
      { concurrency: writesAtOnce },
    );
  }
}
