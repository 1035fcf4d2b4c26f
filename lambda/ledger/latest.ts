import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { LastEvent, LatestPage, OpsLedger } from '../commands/ops-ledger.ts';
import { ledgerKeys, ledgerTable } from '../names.ts';
import { idIn, momentOf, parseLife } from './certification-item.ts';
import { parse, readAll } from './item.ts';
import type { Plain, Table } from './table.ts';

/** Entries of the index in one request: some 160 KB. */
const entriesTogether = 1_000;
/** Items in one request. */
const itemsTogether = 100;

const { byEvent } = ledgerTable;

const indexEntry = z.object({
  [byEvent.sortKey]: z.iso.datetime(),
  // An entry of a broken item: the item is read, and reported then.
  revision: z.catch(z.int(), Number.MAX_SAFE_INTEGER),
});

/** Queries month by month. Each item that is wanted is read consistently. */
export async function* latest(
  table: Table,
  integration: string,
  ...[from, now, isWanted]: Parameters<OpsLedger['latest']>
): AsyncGenerator<LatestPage> {
  for (const month of months(from, now).toReversed()) {
    const key = ledgerKeys.indexed(integration, month.toString());
    for await (const page of table.newest(byEvent, key, entriesTogether)) {
      const entries = page.map(entryOf);
      const within = entries.filter(({ last }) => last.at >= from.epochMilliseconds);
      yield* read(table, within.filter(wanted(isWanted)));
      const reached = within.at(-1)?.last.at;
      if (reached !== undefined) yield { lives: [], unreadable: [], reached };
      if (within.length < entries.length) return;
    }
    yield { lives: [], unreadable: [], reached: beginOf(month) - 1 };
  }
}

export async function* latestSince(
  table: Table,
  integration: string,
  ...[from, now, isWanted]: Parameters<OpsLedger['latestSince']>
): AsyncGenerator<Omit<LatestPage, 'reached'>> {
  for (const month of months(from, now)) {
    const key = ledgerKeys.indexed(integration, month.toString());
    const before = {
      [byEvent.partitionKey]: key,
      [byEvent.sortKey]: momentOf(from.subtract({ milliseconds: 1 })),
      [ledgerTable.partitionKey]: ledgerKeys.certification(integration, 0),
    };
    for await (const page of table.query(byEvent, key, entriesTogether, before))
      yield* read(table, page.map(entryOf).filter(wanted(isWanted)));
  }
}

interface Entry {
  readonly key: string;
  readonly last: LastEvent;
}

const wanted =
  (isWanted: (last: LastEvent) => boolean) =>
  ({ last }: Entry) =>
    isWanted(last);

async function* read(table: Table, entries: readonly Entry[]): AsyncGenerator<LatestPage> {
  for (let start = 0; start < entries.length; start += itemsTogether) {
    const some = entries.slice(start, start + itemsTogether);
    const items = await table.getAll(some.map(({ key }) => key));
    const found = new Map(items.map((item) => [keyOf(item), item]));
    const unreadable: LastEvent[] = [];
    const lives = some.flatMap(({ key, last }) => {
      const item = found.get(key);
      return readAll(item ? [item] : [], parseLife, () => unreadable.push(last));
    });
    yield { lives, unreadable, reached: some.at(-1)?.last.at ?? 0 };
  }
}

const keyOf = (item: Plain) => String(item[ledgerTable.partitionKey]);

function entryOf(item: Plain): Entry {
  const entry = parse(indexEntry, item);
  const at = Date.parse(entry[byEvent.sortKey]);
  return { key: keyOf(item), last: { id: idIn(item), revision: entry.revision, at } };
}

const beginOf = (month: Temporal.PlainYearMonth) =>
  month.toPlainDate({ day: 1 }).toZonedDateTime('UTC').epochMilliseconds;

/** Months of UTC, the newest last. */
function months(from: Temporal.Instant, now: Temporal.Instant): Temporal.PlainYearMonth[] {
  const [first, last] = [from, now].map((at) =>
    at.toZonedDateTimeISO('UTC').toPlainDate().toPlainYearMonth(),
  );
  const many = first && last ? first.until(last, { largestUnit: 'months' }).months : 0;
  return Array.from({ length: many + 1 }, (_, n) => first?.add({ months: n })).filter(
    (month) => month !== undefined,
  );
}
