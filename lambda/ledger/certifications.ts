import type { NotifierError } from '../errors.ts';
import { ledgerKeys, ledgerTable } from '../names.ts';
import type { Journal } from '../ports/journal.ts';
import type { Ledger, OutboxEntry, Waits } from '../ports/ledger.ts';
import { writeEach } from '../write-each.ts';
import {
  baselineItem,
  committed,
  eventsOf,
  filedUnder,
  hashAttributes,
  idIn,
  outboxOf,
  outboxWrites,
  parseCertification,
  parseIndexed,
  parseLife,
  undoing,
  waitOf,
  waits,
} from './certification-item.ts';
import { decided } from './deciding.ts';
import { LedgerUnavailableError } from './errors.ts';
import { underLease } from './held-lease.ts';
import { readAll } from './item.ts';
import { type Plain, part, type Table } from './table.ts';

/** Items read and delivered together, so that a tick holds few of them at a time. */
const deliveredTogether = 200;
/** Items that a command of ops reads together. */
const keptTogether = 100;
/** Of a decision: only a writer without the lease can come in between. */
const attempts = 5;

const { undelivered } = ledgerTable;

/**
 * The certifications of an integration, their outboxes, and the sparse index that lists these.
 *
 *   commit  condition: the item is new, or at the revision that was compared; if the write undoes held
 *           events, the outbox must also be as it was read
 *   settle  condition: the entries are there
 *   decide  condition: the outbox is as it was read
 *   rehash  condition: revision and fingerprint are as they were compared
 */
export function certifications(table: Table, integration: string, journal: Journal) {
  const keyOf = (id: number) => ledgerKeys.certification(integration, id);
  /** An unreadable item blocks only its own commits. */
  const warn = (error: NotifierError) => journal.warn('ledger item unreadable', { error });
  /** Looked for, and unreadable: a silent record has no condition, so it is not put over them. */
  const unreadable = new Set<number>();
  /** The index has keys only and lags; the items themselves are read consistently. */
  async function* pages(place: Waits, waiting: readonly Waits[], limit: number, after?: Plain) {
    const key = ledgerKeys.indexed(integration, place);
    for await (const page of table.query(undelivered, key, { limit, after })) {
      const last = page.at(-1);
      if (last === undefined) continue;
      const items = await table.getAll(page.map((one) => keyOf(idIn(one))));
      const unreadable: NotifierError[] = [];
      const owed = readAll(
        items,
        (item) => eventsOf(item, waiting),
        (error) => unreadable.push(error),
      );
      const end = `${place}/${last[undelivered.sortKey]}/${idIn(last)}`;
      yield { items, owed: owed.flat(), unreadable, end };
    }
  }
  /**
   * Replaces the outbox that was read, and lists the item under its new wait.
   *
   * @returns `undefined` if the outbox was written since: that write has listed the item anew
   */
  const rewrite = (item: Plain, outbox: unknown, set: Plain = {}) => {
    const seen = item[outboxWrites];
    const isNew = `attribute_not_exists(${outboxWrites})`;
    return table.update(keyOf(idIn(item)), {
      set: { ...set, ...filedUnder(integration, waitOf({ ...item, outbox })), outbox },
      add: { [outboxWrites]: 1 },
      where: seen === undefined ? isNew : `${outboxWrites} = :seen`,
      values: { ':seen': seen },
    });
  };
  /** Whether all held events have left the outbox, since the commit undoes them. */
  const undo = async (item: Plain | undefined, commit: Parameters<Ledger['commit']>) => {
    const set = item && undoing(integration, item, commit);
    return item && set && (await rewrite(item, {}, set));
  };
  /** Lists an item under its wait of now. An unreadable item stays where it is. */
  const refile = async (item: Plain = {}) => {
    const [filed] = readAll([item], (one) => filedUnder(integration, waitOf(one)));
    if (filed !== undefined && item[undelivered.partitionKey] !== filed[undelivered.partitionKey])
      await rewrite(item, item['outbox']);
  };
  const settle = async (
    entries: readonly (OutboxEntry & { readonly code?: string })[],
    rest: 'nothing' | 'digest' | 'undeliverable',
  ) => {
    const byId = Map.groupBy(entries, ({ certificationId }) => certificationId);
    await writeEach(byId, async ([id, ofOne]) => {
      const key = keyOf(id);
      const add = { [outboxWrites]: 1 };
      const changes = ofOne.map(({ revision, code }) => {
        const place = `outbox${part}${revision}`;
        const owes = { [`${place}${part}owes`]: 'digest' };
        const refused = { [`${place}${part}undeliverable`]: code };
        const set = { nothing: { [place]: undefined }, digest: owes, undeliverable: refused };
        return { set: set[rest], exists: [place], add };
      });
      // If these entries are all that the outbox has: one write, the index included.
      const wait = rest === 'nothing' ? undefined : rest;
      const sets = changes.map(({ set }) => set);
      const settled = await table.update(key, {
        set: Object.assign({}, ...sets, filedUnder(integration, wait)),
        exists: changes.flatMap(({ exists }) => exists),
        add,
        where: 'size(outbox) = :all',
        values: { ':all': ofOne.length },
      });
      if (settled !== undefined) return;
      // The outbox has other entries, or another tick has settled some of these meanwhile.
      for (const change of changes)
        await refile(await table.update(key, { ...change, returns: 'ALL_NEW' }));
    });
  };
  return {
    async known(ids) {
      const items = await table.getAll(ids.map(keyOf));
      const all = readAll(items, parseCertification, warn);
      const known = new Map(all.map((certification) => [certification.id, certification]));
      for (const id of items.map(idIn))
        if (known.has(id)) unreadable.delete(id);
        else unreadable.add(id);
      return known;
    },
    async lives(ids) {
      const items = await table.getAll(ids.map(keyOf));
      return new Map(readAll(items, parseLife, warn).map((life) => [life.certification.id, life]));
    },
    async knownOfDay(day) {
      const pages = table.query(ledgerTable.byDay, ledgerKeys.indexed(integration, day));
      const items = (await Array.fromAsync(pages)).flat();
      return new Map(readAll(items, parseIndexed, warn));
    },
    async recordSilently(sightings, now, lease) {
      const absent = sightings.filter(({ id }) => !unreadable.has(id));
      await table.putAll(
        absent.map((sighting) => baselineItem(integration, sighting, now.toString())),
        underLease(table, integration, lease),
      );
      return absent.length;
    },
    async rehash(outdated) {
      await writeEach(outdated, ({ before: { id, revision, fingerprint: old }, fingerprint }) =>
        table.update(keyOf(id), {
          set: hashAttributes(fingerprint),
          where: 'revision = :revision AND fingerprint = :old',
          values: { ':revision': revision, ':old': old.whole },
        }),
      );
    },
    async commit(...commit) {
      const [{ id: certificationId, revision, before: known }, event, , destiny] = commit;
      const key = keyOf(certificationId);
      if (known?.isHeld && (await undo(await table.get(key), commit))) return 'undone';
      const before = await table.update(key, committed(integration, commit));
      if (before === undefined) return undefined;
      const [outbox] = readAll([before], outboxOf);
      // The waits of earlier entries. Ops hear of an unreadable outbox when its events are to be
      // delivered.
      const beside = outbox?.map(({ waits }) => waits) ?? ['pending'];
      // The index now has the item under a wait that is not its first.
      if (beside.includes(destiny === 'pending' ? 'held' : 'undeliverable'))
        await refile(await table.get(key));
      const behind = (['held', 'pending'] as const).find((wait) => beside.includes(wait));
      const owed = { certificationId, revision, event, owes: 'event-and-digest' } as const;
      return { ...owed, ...(behind && { behind }) };
    },
    /**
     * Settling a page does not disturb the next one: a query resumes after a key even if its item
     * has left the index.
     */
    async *leftovers(owing) {
      const place = owing === 'event' ? 'pending' : 'digest';
      for await (const page of pages(place, ['pending', 'digest'], deliveredTogether)) {
        yield page;
        for (const item of page.items) await refile(item);
      }
    },
    /**
     * @param after `<place>/<owed since>/<id>`: of events owed since the same moment, some may be
     * done
     */
    async *waitingForOps(waiting, after) {
      const [begun, since, id] = after?.split('/') ?? [];
      const first = waits.findIndex((place) => after?.startsWith(`${place}/`));
      for (const place of waits.slice(Math.max(0, first))) {
        const start = {
          ...filedUnder(integration, place),
          [undelivered.sortKey]: since,
          [ledgerTable.partitionKey]: keyOf(Number(id)),
        };
        yield* pages(place, [waiting], keptTogether, place === begun ? start : undefined);
      }
    },
    countWaitingForOps: (wait) => table.count(undelivered, ledgerKeys.indexed(integration, wait)),
    settle,
    park: (refused) =>
      settle(
        refused.map(({ owed, code }) => ({ ...owed, code })),
        'undeliverable',
      ),
    async decide(certificationId, ...asked) {
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const item = (await table.get(keyOf(certificationId))) ?? {};
        const { outbox, notes, ...result } = decided(item, ...asked);
        if (outbox === undefined || (await rewrite(item, outbox, notes))) return result;
      }
      throw new LedgerUnavailableError('UpdateItem', { cause: new Error('others write, too') });
    },
  } satisfies Partial<Ledger>;
}
