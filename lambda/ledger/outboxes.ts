import pMap from 'p-map';
import { ledgerTable } from '../names.ts';
import type { Ledger, OutboxEntry, Waits } from '../ports/ledger.ts';
import {
  certificationKey,
  eventsOf,
  filedUnder,
  indexKey,
  isAsRead,
  outboxOf,
  outboxWrites,
  waitOf,
  waits,
} from './certification-item.ts';
import { readAll } from './item.ts';
import { type Plain, path, type Table } from './table.ts';

/** Writes in flight at once: enough to hide latency, too few to trip a cold table's throttle. */
const writesAtOnce = 16;
/** Items read and delivered together: what a tick holds of an outbox of any size. */
const deliveredTogether = 200;
/** Items that ops look at together. */
const keptTogether = 100;

const { partitionKey, sortKey } = ledgerTable.undelivered;
const keyOf = (item: Plain) => String(item[ledgerTable.partitionKey]);

/** The outboxes of an integration's certifications, and the sparse index by which they are found. */
export function outboxes(table: Table, integration: string) {
  const indexed = (wait: Waits) => ({
    index: ledgerTable.undelivered,
    key: indexKey(integration, wait),
  });
  /** The index has keys only and lags; the items themselves are read consistently. */
  async function* pages(wait: Waits, limit: number, start?: Plain) {
    for await (const page of table.query(indexed(wait), limit, start)) {
      const last = page.at(-1);
      if (last === undefined) continue;
      const keys = page.map(keyOf);
      const items = new Map((await table.getAll(keys)).map((item) => [keyOf(item), item]));
      const there = keys.map((key) => items.get(key)).filter((item) => item !== undefined);
      yield { items: there, last };
    }
  }

  /** @param change what becomes of each entry, which the item then waits for, if it has no others */
  const alter = async <Entry extends OutboxEntry>(
    entries: readonly Entry[],
    wait: Waits | undefined,
    change: (place: string, entry: Entry) => Plain,
  ) => {
    const alteration = (ofOne: readonly Entry[]) => {
      const places = ofOne.map(({ revision }) => path('outbox', String(revision)));
      const changes = ofOne.map((entry, index) => change(places[index] ?? '', entry));
      const set: Plain = Object.assign({}, ...changes);
      return { set, exists: places, add: { [outboxWrites]: 1 } };
    };
    await pMap(
      Map.groupBy(entries, ({ certificationId }) => certificationId),
      async ([id, ofOne]) => {
        const key = certificationKey(integration, id);
        const { set, ...together } = alteration(ofOne);
        // Entries that are all the outbox has: one write, the index included.
        const altered = await table.update(key, {
          ...together,
          set: { ...set, ...filedUnder(integration, wait) },
          where: 'size(outbox) = :all',
          values: { ':all': ofOne.length },
        });
        if (altered !== undefined) return;
        // Some of several entries, or of those that another tick has settled meanwhile.
        for (const entry of ofOne) {
          const item = await table.update(key, { ...alteration([entry]), returns: 'ALL_NEW' });
          await refile(table, integration, item);
        }
      },
      // One that fails must not leave the others under way unattended.
      { concurrency: writesAtOnce, stopOnError: false },
    );
  };
  return {
    /** Settling a page does not disturb the next one: a query goes on after a key, whether or not that is still there. */
    async *leftovers(owing) {
      const wait = owing === 'event' ? 'pending' : 'digest';
      for await (const { items } of pages(wait, deliveredTogether)) {
        const { read, unreadable } = readAll(items, (item) =>
          eventsOf(item, ['pending', 'digest']),
        );
        yield { owed: read.flat(), unreadable };
        for (const item of items) await refile(table, integration, item);
      }
    },
    /** @param after `<place>/<owed since>/<id>`: of what is owed since the same moment, some may be done */
    async *kept(waiting, after) {
      const [begun, since, id] = after?.split('/') ?? [];
      const first = waits.findIndex((place) => after?.startsWith(`${place}/`));
      for (const place of waits.slice(Math.max(0, first))) {
        const start = {
          [partitionKey]: indexKey(integration, place),
          [sortKey]: since,
          [ledgerTable.partitionKey]: certificationKey(integration, Number(id)),
        };
        const from = place === begun ? start : undefined;
        for await (const { items, last } of pages(place, keptTogether, from)) {
          const { read, unreadable } = readAll(items, (item) => eventsOf(item, [waiting]));
          const lastId = keyOf(last).slice(keyOf(last).lastIndexOf('#') + 1);
          yield { owed: read.flat(), unreadable, end: `${place}/${last[sortKey]}/${lastId}` };
        }
      }
    },
    countKept: (waiting) => table.count(indexed(waiting)),
    async settle(delivered, rest) {
      if (rest === 'nothing')
        await alter(delivered, undefined, (place) => ({ [place]: undefined }));
      else await alter(delivered, 'digest', (place) => ({ [path(place, 'owes')]: 'digest' }));
    },
    async park(refused) {
      const entries = refused.map(({ owed, code }) => ({ ...owed, code }));
      await alter(entries, 'undeliverable', (place, { code }) => ({
        [path(place, 'undeliverable')]: code,
      }));
    },
  } satisfies Partial<Ledger>;
}

/** Puts an item where what it waits for is looked for; one that cannot be read stays where it is. */
export async function refile(
  table: Table,
  integration: string,
  item: Plain | undefined,
): Promise<void> {
  const [outbox] = item === undefined ? [] : readAll([item], outboxOf).read;
  if (item === undefined || outbox === undefined) return;
  const filed = filedUnder(integration, waitOf(outbox));
  if (item[partitionKey] === filed[partitionKey]) return;
  await table.update(keyOf(item), { set: filed, ...isAsRead(item) });
}
