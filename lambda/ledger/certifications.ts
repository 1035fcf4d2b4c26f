import type { Temporal } from 'temporal-polyfill';
import { type Change, isNothing, isUndone, toldOf } from '../detection/compare.ts';
import type { CertificationEvent } from '../events/event.ts';
import { ledgerTable } from '../names.ts';
import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import {
  baselineItem,
  certificationKey,
  changeAttributes,
  filedUnder,
  forgottenRevision,
  indexKey,
  isAllHeld,
  isAsRead,
  outboxOf,
  outboxWrites,
  parseCertification,
  parseDayCertification,
  parseLife,
  revisionAttribute,
} from './certification-item.ts';
import { readAll } from './item.ts';
import { refile } from './outboxes.ts';
import { type Plain, path, type Table } from './table.ts';

/**
 * The certifications of an integration.
 *
 *   commit  condition: the item is new, or at the revision that was compared; where it undoes what is held,
 *           the outbox is as it was read, too
 */
export function certifications(table: Table, integration: string, journal: Journal) {
  /** What cannot be read is in the way of its own commits. */
  const readable = <Parsed>(items: readonly Plain[], parse: (item: Plain) => Parsed) => {
    const { read, unreadable } = readAll(items, parse);
    for (const error of unreadable) journal.warn('ledger item unreadable', { error });
    return read;
  };
  return {
    async known(ids) {
      const items = await table.getAll(ids.map((id) => certificationKey(integration, id)));
      const known = readable(items, parseCertification);
      return new Map(known.map((certification) => [certification.id, certification]));
    },
    async lives(ids) {
      const items = await table.getAll(ids.map((id) => certificationKey(integration, id)));
      return new Map(readable(items, parseLife).map((life) => [life.certification.id, life]));
    },
    async knownOfDay(day) {
      const indexed = { index: ledgerTable.byDay, key: indexKey(integration, day) };
      const items = (await Array.fromAsync(table.query(indexed))).flat();
      return new Map(readable(items, parseDayCertification).map((known) => [known.id, known]));
    },
    async recordSilently(sightings, now) {
      const at = now.toString();
      await table.putAll(sightings.map((sighting) => baselineItem(integration, sighting, at)));
    },
    async commit(change, event, now, destiny) {
      if (change.before?.isHeld && (await undo(table, integration, change, event, now)))
        return 'undone';
      const before = await write(table, integration, change, event, now, destiny);
      if (before === undefined) return undefined;
      const certificationId = change.id;
      const [outbox] = readAll([before], outboxOf).read;
      // What it owed already. An outbox that cannot be read is told to ops when its events are to be delivered.
      const beside = outbox?.map(({ waits }) => waits) ?? ['pending'];
      // The item is in the index under what it does not wait for first.
      if (beside.includes(destiny === 'pending' ? 'held' : 'undeliverable')) {
        const item = await table.get(certificationKey(integration, certificationId));
        await refile(table, integration, item);
      }
      const { revision } = change;
      const behind = (['held', 'pending'] as const).find((wait) => beside.includes(wait));
      return {
        ...{ certificationId, revision, event, owes: 'event-and-digest' },
        ...(behind && { behind }),
      };
    },
  } satisfies Partial<Ledger>;
}

/** @returns the item as it was before, or `undefined` when another tick has made this revision */
function write(
  table: Table,
  integration: string,
  change: Change,
  event: CertificationEvent,
  now: Temporal.Instant,
  destiny: 'pending' | 'held',
): Promise<Plain | undefined> {
  const { kind, revision } = change;
  const at = now.toString();
  const entry = {
    ...{ event: JSON.stringify(event), owes: 'event-and-digest' },
    ...(destiny === 'held' && { held: true, told: toldOf(change.before) }),
  };
  const set = changeAttributes(integration, change, { kind, at, late: event.data.late });
  const index = filedUnder(integration, destiny);
  // As text, instants are in order only when they have as many digits.
  const since = {
    [ledgerTable.undelivered.sortKey]: now.toString({ smallestUnit: 'millisecond' }),
  };
  const key = certificationKey(integration, change.id);
  if (revision === 1 && kind === 'created')
    return table.update(key, {
      set: { ...set, ...index, ...since, first_seen: at, outbox: { [revision]: entry } },
      where: `attribute_not_exists(${ledgerTable.partitionKey})`,
    });
  return table.update(key, {
    set: {
      ...set,
      ...(destiny === 'pending' && index),
      [path('outbox', String(revision))]: entry,
      [forgottenRevision(revision)]: undefined,
      untold: undefined,
    },
    // What is pending already stays so: a held entry beside it is known by its own mark.
    initial: { ...since, ...(destiny === 'held' && index) },
    add: { [outboxWrites]: 1 },
    where: 'revision = :before',
    values: { ':before': revision - 1 },
    returns: 'ALL_OLD',
  });
}

/**
 * All that is held of it leaves the outbox with a change that makes it again as subscribers were last told.
 * @returns `false`: it does not, or something was written since the item was read
 */
async function undo(
  table: Table,
  integration: string,
  change: Change,
  event: CertificationEvent,
  now: Temporal.Instant,
): Promise<boolean> {
  const { kind, revision } = change;
  const item = await table.get(certificationKey(integration, change.id));
  if (item === undefined || item['revision'] !== revision - 1) return false;
  const [outbox = []] = readAll([item], outboxOf).read;
  const told = isAllHeld(outbox) ? outbox[0]?.raw.told : undefined;
  if (told === undefined || !isUndone(told, change)) return false;
  const note = { kind, at: now.toString(), late: event.data.late, undone: true } as const;
  const forgotten = forgottenRevision(revision);
  const noted = outbox
    .map((entry) => revisionAttribute(entry.revision))
    .filter((name) => item[name] !== undefined && name !== forgotten);
  const written = await table.update(certificationKey(integration, change.id), {
    set: {
      ...changeAttributes(integration, change, note),
      ...filedUnder(integration, undefined),
      ...Object.fromEntries(noted.map((name) => [path(name, 'undone'), true])),
      [forgotten]: undefined,
      outbox: {},
      untold: kind === 'withdrawn' && isNothing(told),
    },
    add: { [outboxWrites]: 1 },
    ...isAsRead(item),
  });
  return written !== undefined;
}
