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
  order: 'newest-first' | 'oldest-first',
  ...[from, now, isWanted]: Parameters<OpsLedger['latest']>
): AsyncGenerator<LatestPage> {
  const isReversed = order === 'newest-first';
  const range = { limit: entriesTogether, from: momentOf(from), isReversed };
  const ascending = months(from, now);
  for (const month of isReversed ? ascending.toReversed() : ascending) {
    const key = ledgerKeys.indexed(integration, month.toString());
    for await (const page of table.query(byEvent, key, range)) {
      const entries = page.map(lastEventOf);
      yield* read(table, integration, entries.filter(isWanted));
      const reached = entries.at(-1)?.at;
      if (reached !== undefined) yield { lives: [], unreadable: [], reached };
    }
    const begin = month.toPlainDate({ day: 1 }).toZonedDateTime('UTC').epochMilliseconds;
    yield { lives: [], unreadable: [], reached: begin - 1 };
  }
}

async function* read(
  table: Table,
  integration: string,
  entries: readonly LastEvent[],
): AsyncGenerator<LatestPage> {
  for (let start = 0; start < entries.length; start += itemsTogether) {
    const some = entries.slice(start, start + itemsTogether);
    const items = await table.getAll(
      some.map(({ id }) => ledgerKeys.certification(integration, id)),
    );
    const unreadable: LastEvent[] = [];
    const lives = readAll(items, parseLife, (_, item) =>
      unreadable.push(...some.filter(({ id }) => id === idIn(item))),
    );
    yield { lives, unreadable, reached: some.at(-1)?.at ?? 0 };
  }
}

function lastEventOf(item: Plain): LastEvent {
  const { revision, [byEvent.sortKey]: at } = parse(indexEntry, item);
  return { id: idIn(item), revision, at: Date.parse(at) };
}

/** Months of UTC, the newest last. */
function months(from: Temporal.Instant, now: Temporal.Instant): Temporal.PlainYearMonth[] {
  const monthOf = (at: Temporal.Instant) =>
    at.toZonedDateTimeISO('UTC').toPlainDate().toPlainYearMonth();
  const first = monthOf(from);
  const many = first.until(monthOf(now), { largestUnit: 'months' }).months;
  return Array.from({ length: many + 1 }, (_, n) => first.add({ months: n }));
}
