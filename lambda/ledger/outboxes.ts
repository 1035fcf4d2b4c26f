import pMap from 'p-map';
import type { OwedEvent } from '../events/owed-event.ts';
import { ledgerTable } from '../names.ts';
import type { Refusal } from '../ports/announcer.ts';
import type { Leftovers, OutboxEntry } from '../ports/ledger.ts';
import { certificationKey } from './certification-item.ts';
import { LedgerCorruptError } from './errors.ts';
import { OutboxPaths } from './expressions.ts';
import {
  outboxWrites,
  parseOutbox,
  undeliveredKey,
  type Waits,
  waitOf,
  waits,
} from './outbox-item.ts';
import type { Plain, Table } from './table.ts';

/** Writes in flight at once: enough to hide latency, too few to trip a cold table's throttle. */
const writesAtOnce = 16;
/** Items read and delivered together: what a tick holds of an outbox of any size. */
const pageItems = 200;

/** What becomes of some entries of one item's outbox. */
interface Alteration {
  readonly set?: readonly string[];
  readonly remove?: readonly string[];
  readonly values?: Plain;
  /** What the item waits for if it has no other entries. */
  readonly wait: Waits | undefined;
}

/** The outboxes of an integration's certifications, and the sparse index by which they are found. */
export class Outboxes {
  readonly #table: Table;
  readonly #integration: string;

  constructor(table: Table, integration: string) {
    this.#table = table;
    this.#integration = integration;
  }

  /**
   * Items that wait for this, oldest first, page by page, and all that they owe. Settling a page does not disturb the next one:
   * a query goes on after a key, whether or not that is still there.
   */
  async *waiting(wait: 'pending' | 'digest'): AsyncGenerator<Leftovers> {
    for await (const items of this.#indexed(wait)) {
      yield readAll(items, ['pending', 'digest']);
      await this.#file(items);
    }
  }

  /** Also of items that are in the index for something else. Reads only. */
  async *kept(wait: 'held' | 'undeliverable'): AsyncGenerator<Leftovers> {
    for (const indexed of waits)
      for await (const items of this.#indexed(indexed)) yield readAll(items, [wait]);
  }

  countKept(wait: 'held' | 'undeliverable'): Promise<number> {
    return this.#table.count(this.#query(wait));
  }

  async settle(delivered: readonly OutboxEntry[], rest: 'nothing' | 'digest'): Promise<void> {
    await this.#alterEach(delivered, ({ paths }) =>
      rest === 'nothing'
        ? { remove: paths, wait: undefined }
        : {
            set: paths.map((path) => `${path}.owes = :owes`),
            values: { ':owes': 'digest' },
            wait: 'digest',
          },
    );
  }

  async park(refused: readonly Refusal[]): Promise<void> {
    const entries = refused.map(({ owed, code }) => ({ ...owed, code }));
    await this.#alterEach(entries, ({ paths }, ofOne) => ({
      set: paths.map((path, index) => `${path}.undeliverable = :code${index}`),
      values: Object.fromEntries(ofOne.map(({ code }, index) => [`:code${index}`, code])),
      wait: 'undeliverable',
    }));
  }

  /** Puts an item where what it waits for is looked for. */
  async refile(id: number): Promise<void> {
    const item = await this.#table.get(certificationKey(this.#integration, id));
    if (item !== undefined) await this.#file([item]);
  }

  #query(wait: Waits) {
    const { name, partitionKey } = ledgerTable.undelivered;
    return {
      IndexName: name,
      KeyConditionExpression: '#index = :index',
      ExpressionAttributeNames: { '#index': partitionKey },
      values: { ':index': undeliveredKey(this.#integration, wait) },
    };
  }

  /** The index has keys only and lags; the items themselves are read consistently. */
  async *#indexed(wait: Waits): AsyncGenerator<Plain[]> {
    for await (const page of this.#table.query({ ...this.#query(wait), Limit: pageItems })) {
      if (page.length === 0) continue;
      const keys = page.map((entry) => String(entry[ledgerTable.partitionKey]));
      const items = new Map<unknown, Plain>();
      for (const item of await this.#table.getAll(keys))
        items.set(item[ledgerTable.partitionKey], item);
      yield keys.map((key) => items.get(key)).filter((item) => item !== undefined);
    }
  }

  /** Crashes leave an item behind where it was; one that cannot be read stays where it is. */
  async #file(items: readonly Plain[]): Promise<void> {
    for (const item of items) {
      const wait = waitIfReadable(item);
      if (wait === 'unreadable') continue;
      const index = wait && undeliveredKey(this.#integration, wait);
      if (item[ledgerTable.undelivered.partitionKey] !== index) await this.#refile(item, wait);
    }
  }

  async #alterEach<Entry extends OutboxEntry>(
    entries: readonly Entry[],
    alteration: (paths: OutboxPaths, ofOne: readonly Entry[]) => Alteration,
  ): Promise<void> {
    const byCertification = Map.groupBy(entries, ({ certificationId }) => certificationId);
    await pMap(
      byCertification,
      async ([id, ofOne]) => {
        const key = certificationKey(this.#integration, id);
        const paths = new OutboxPaths(ofOne.map(({ revision }) => revision));
        if (await this.#alterAll(key, paths, alteration(paths, ofOne))) return;
        for (const entry of ofOne) {
          const path = new OutboxPaths([entry.revision]);
          await this.#alterSome(key, path, alteration(path, [entry]));
        }
      },
      // One that fails must not leave the others under way unattended.
      { concurrency: writesAtOnce, stopOnError: false },
    );
  }

  /** Entries that are all the outbox has: one write, the index included. */
  async #alterAll(key: string, paths: OutboxPaths, alteration: Alteration): Promise<boolean> {
    const { set = [], remove = [], values, wait } = alteration;
    const { partitionKey, sortKey } = ledgerTable.undelivered;
    const altered = await this.#table.update(key, {
      UpdateExpression: clauses(
        wait ? [...set, '#index = :index'] : set,
        wait ? remove : [...remove, '#index', '#since'],
      ),
      ConditionExpression: `size(outbox) = :all AND ${paths.allExist}`,
      ExpressionAttributeNames: {
        ...paths.names,
        '#index': partitionKey,
        ...(wait === undefined && { '#since': sortKey }),
      },
      values: {
        ...values,
        ':one': 1,
        ':all': paths.paths.length,
        ...(wait && { ':index': undeliveredKey(this.#integration, wait) }),
      },
    });
    return altered !== undefined;
  }

  /** One of several entries, or one that another tick has settled meanwhile. */
  async #alterSome(key: string, path: OutboxPaths, alteration: Alteration): Promise<void> {
    const { set = [], remove = [], values } = alteration;
    const rest = await this.#table.update(key, {
      UpdateExpression: clauses(set, remove),
      ConditionExpression: path.allExist,
      ExpressionAttributeNames: path.names,
      values: { ...values, ':one': 1 },
      ReturnValues: 'ALL_NEW',
    });
    if (rest !== undefined) await this.#file([rest]);
  }

  /** Only if the outbox is still as it was read: whoever has altered it since files it. */
  async #refile(item: Plain, wait: Waits | undefined): Promise<void> {
    const { partitionKey, sortKey } = ledgerTable.undelivered;
    const seen = item[outboxWrites];
    await this.#table.update(String(item[ledgerTable.partitionKey]), {
      UpdateExpression: wait ? 'SET #index = :index' : 'REMOVE #index, #since',
      ConditionExpression:
        seen === undefined ? `attribute_not_exists(${outboxWrites})` : `${outboxWrites} = :seen`,
      ExpressionAttributeNames: {
        '#index': partitionKey,
        ...(wait === undefined && { '#since': sortKey }),
      },
      values: {
        ...(seen !== undefined && { ':seen': seen }),
        ...(wait && { ':index': undeliveredKey(this.#integration, wait) }),
      },
    });
  }
}

function waitIfReadable(item: Plain): Waits | 'unreadable' | undefined {
  try {
    return waitOf(item);
  } catch (error) {
    if (!(error instanceof LedgerCorruptError)) throw error;
    return 'unreadable';
  }
}

/** An item that cannot be read does not hide the others. */
function readAll(items: readonly Plain[], waits: readonly Waits[]): Leftovers {
  const owed: OwedEvent[] = [];
  const unreadable: LedgerCorruptError[] = [];
  for (const item of items)
    try {
      owed.push(...parseOutbox(item, waits));
    } catch (error) {
      if (!(error instanceof LedgerCorruptError)) throw error;
      unreadable.push(error);
    }
  return { owed, unreadable };
}

function clauses(set: readonly string[], remove: readonly string[]): string {
  return [
    ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
    ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')}`] : []),
    `ADD ${outboxWrites} :one`,
  ].join(' ');
}
