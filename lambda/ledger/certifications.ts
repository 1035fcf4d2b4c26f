import { isNothing, isUndone, toldOf } from '../decisions/compare.ts';
import type { NotifierError } from '../errors.ts';
import { ledgerKeys, ledgerTable } from '../names.ts';
import type { Journal } from '../ports/journal.ts';
import type { Ledger, OutboxEntry, Waits } from '../ports/ledger.ts';
import { writeEach } from '../write-each.ts';
import {
  baselineItem,
  changeAttributes,
  eventsOf,
  filedUnder,
  hashAttributes,
  idIn,
  outboxOf,
  parseCertification,
  parseIndexed,
  parseLife,
  waitOf,
  waits,
} from './certification-item.ts';
import { underLease } from './held-lease.ts';
import { readAll } from './item.ts';
import { type Plain, part, type Table } from './table.ts';

/** Items read and delivered together, so that a tick holds few of them at a time. */
const deliveredTogether = 200;
/** Items that a command of ops reads together. */
const keptTogether = 100;

const { undelivered } = ledgerTable;
const keyOf = (item: Plain) => String(item[ledgerTable.partitionKey]);

type Commit = Parameters<Ledger['commit']>;

/**
 * Counts writes to the outbox. A write that depends on an earlier read requires that the count is
 * unchanged.
 */
const outboxWrites = 'outbox_writes';

/**
 * The certifications of an integration, their outboxes, and the sparse index that lists these.
 *
 *   commit  condition: the item is new, or at the revision that was compared; if the write undoes held
 *           events, the outbox must also be as it was read
 *   settle  condition: the entries are there
 *   rehash  condition: revision and fingerprint are as they were compared
 */
export function certifications(table: Table, integration: string, journal: Journal) {
  /** An unreadable item blocks only its own commits. */
  const warn = (error: NotifierError) => journal.warn('ledger item unreadable', { error });
  /** Looked for, and unreadable: a silent record has no condition, so it is not put over them. */
  const unreadable = new Set<number>();
  /** The index has keys only and lags; the items themselves are read consistently. */
  async function* pages(place: Waits, waiting: readonly Waits[], limit: number, start?: Plain) {
    for await (const page of table.query(
      undelivered,
      ledgerKeys.indexed(integration, place),
      limit,
      start,
    )) {
      const last = page.at(-1);
      if (last === undefined) continue;
      const keys = page.map(keyOf);
      const found = new Map((await table.getAll(keys)).map((item) => [keyOf(item), item]));
      const items = keys.map((key) => found.get(key)).filter((item) => item !== undefined);
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
  const settle = async (
    entries: readonly (OutboxEntry & { readonly code?: string })[],
    rest: 'nothing' | 'digest' | 'undeliverable',
  ) => {
    await writeEach(
      Map.groupBy(entries, ({ certificationId }) => certificationId),
      async ([id, ofOne]) => {
        const key = ledgerKeys.certification(integration, id);
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
        for (const change of changes) {
          const item = await table.update(key, { ...change, returns: 'ALL_NEW' });
          await refile(table, integration, item);
        }
      },
    );
  };
  return {
    async known(ids) {
      const items = await table.getAll(ids.map((id) => ledgerKeys.certification(integration, id)));
      const all = readAll(items, parseCertification, warn);
      const known = new Map(all.map((certification) => [certification.id, certification]));
      for (const id of items.map(idIn))
        if (known.has(id)) unreadable.delete(id);
        else unreadable.add(id);
      return known;
    },
    async lives(ids) {
      const items = await table.getAll(ids.map((id) => ledgerKeys.certification(integration, id)));
      return new Map(readAll(items, parseLife, warn).map((life) => [life.certification.id, life]));
    },
    async knownOfDay(day) {
      const pages = table.query(ledgerTable.byDay, ledgerKeys.indexed(integration, day));
      const items = (await Array.fromAsync(pages)).flat();
      return new Map(readAll(items, parseIndexed, warn));
    },
    async recordSilently(sightings, now, lease) {
      const at = now.toString();
      const absent = sightings.filter(({ id }) => !unreadable.has(id));
      await underLease(table, integration, lease).putAll(
        absent.map((sighting) => baselineItem(integration, sighting, at)),
      );
      return absent.length;
    },
    async rehash(outdated) {
      await writeEach(outdated, ({ before: { id, revision, fingerprint: old }, fingerprint }) =>
        table.update(ledgerKeys.certification(integration, id), {
          set: hashAttributes(fingerprint),
          where: 'revision = :revision AND fingerprint = :old',
          values: { ':revision': revision, ':old': old.whole },
        }),
      );
    },
    async commit(...commit) {
      const [change, event, , destiny] = commit;
      if (change.before?.isHeld && (await undo(table, integration, commit))) return 'undone';
      const before = await write(table, integration, commit);
      if (before === undefined) return undefined;
      const { id: certificationId, revision } = change;
      const [outbox] = readAll([before], outboxOf);
      // The waits of earlier entries. Ops hear of an unreadable outbox when its events are to be
      // delivered.
      const beside = outbox?.map(({ waits }) => waits) ?? ['pending'];
      // The index now has the item under a wait that is not its first.
      if (beside.includes(destiny === 'pending' ? 'held' : 'undeliverable')) {
        const item = await table.get(ledgerKeys.certification(integration, certificationId));
        await refile(table, integration, item);
      }
      const behind = (['held', 'pending'] as const).find((wait) => beside.includes(wait));
      return {
        certificationId,
        revision,
        event,
        owes: 'event-and-digest',
        ...(behind && { behind }),
      };
    },
    /**
     * Settling a page does not disturb the next one: a query resumes after a key even if its item
     * has left the index.
     */
    async *leftovers(owing) {
      const place = owing === 'event' ? 'pending' : 'digest';
      for await (const page of pages(place, ['pending', 'digest'], deliveredTogether)) {
        yield page;
        for (const item of page.items) await refile(table, integration, item);
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
          [ledgerTable.partitionKey]: ledgerKeys.certification(integration, Number(id)),
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
  } satisfies Partial<Ledger>;
}

/** @returns the item as it was before, or `undefined` if another tick has made this revision */
function write(table: Table, integration: string, [change, event, now, destiny]: Commit) {
  const { kind, revision } = change;
  const at = now.toString();
  const entry = {
    event: JSON.stringify(event),
    owes: 'event-and-digest',
    ...(destiny === 'held' && { held: true }),
    ...((destiny === 'held' || change.before?.isHeld) && { told: toldOf(change.before) }),
  };
  const set = changeAttributes(integration, change, { kind, at, late: event.data.late });
  const index = filedUnder(integration, destiny);
  // As text, instants are in order only if they have the same number of digits.
  const since = { [undelivered.sortKey]: now.toString({ smallestUnit: 'millisecond' }) };
  const key = ledgerKeys.certification(integration, change.id);
  if (revision === 1)
    return table.update(key, {
      set: { ...set, ...index, ...since, first_seen: at, outbox: { [revision]: entry } },
      where: `attribute_not_exists(${ledgerTable.partitionKey})`,
    });
  return table.update(key, {
    set: {
      ...set,
      ...(destiny === 'pending' && index),
      [`outbox${part}${revision}`]: entry,
      untold: undefined,
    },
    // An item that is pending already stays so in the index: its held entry has its own mark.
    initial: { ...since, ...(destiny === 'held' && index) },
    add: { [outboxWrites]: 1 },
    where: 'revision = :before',
    values: { ':before': revision - 1 },
    returns: 'ALL_OLD',
  });
}

/**
 * Takes all held events out of the outbox, if the change makes the certification again as
 * subscribers were last told.
 *
 * @returns `false` if it does not, or if something was written since the item was read
 */
async function undo(table: Table, integration: string, [change, event, now]: Commit) {
  const { kind, revision } = change;
  const item = await table.get(ledgerKeys.certification(integration, change.id));
  const known = item && parseCertification(item);
  if (item === undefined || known?.revision !== revision - 1 || !known.isHeld) return false;
  const outbox = outboxOf(item);
  const told = outbox[0]?.raw.told;
  if (told === undefined || !isUndone(told, change)) return false;
  const note = { kind, at: now.toString(), late: event.data.late, undone: true } as const;
  const set = changeAttributes(integration, change, note);
  const undone = outbox
    .map((entry) => `revision:${entry.revision}`)
    .filter((name) => item[name] !== undefined && !(name in set))
    .map((name) => [`${name}${part}undone`, true]);
  const untold = kind === 'withdrawn' && isNothing(told);
  return rewrite(table, integration, item, {}, { ...set, ...Object.fromEntries(undone), untold });
}

/**
 * Replaces the outbox that was read, and lists the item under its new wait.
 *
 * @returns `false` if the outbox was written since: that write has listed the item anew
 */
export async function rewrite(
  table: Table,
  integration: string,
  item: Plain,
  outbox: unknown,
  set: Plain = {},
): Promise<boolean> {
  const seen = item[outboxWrites];
  const written = await table.update(keyOf(item), {
    set: { ...set, ...filedUnder(integration, waitOf({ ...item, outbox })), outbox },
    add: { [outboxWrites]: 1 },
    where: seen === undefined ? `attribute_not_exists(${outboxWrites})` : `${outboxWrites} = :seen`,
    values: { ':seen': seen },
  });
  return written !== undefined;
}

/** Lists an item under its wait of now. An unreadable item stays where it is. */
async function refile(table: Table, integration: string, item: Plain = {}): Promise<void> {
  const [filed] = readAll([item], (one) => filedUnder(integration, waitOf(one)));
  if (filed !== undefined && item[undelivered.partitionKey] !== filed[undelivered.partitionKey])
    await rewrite(table, integration, item, item['outbox']);
}
