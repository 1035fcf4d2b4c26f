import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import {
  type Certification,
  type Change,
  isNothing,
  isUndone,
  presence,
  type Sighting,
  toldOf,
} from '../decisions/compare.ts';
import { type Fingerprint, rulesNow, rulesOf } from '../decisions/fingerprint.ts';
import { revisionNoted } from '../decisions/history.ts';
import { certificationEventSchema } from '../events/event.ts';
import { briefName } from '../events/sns-message.ts';
import { itself, jsonText } from '../json-text.ts';
import { ledgerKeys, ledgerTable } from '../names.ts';
import type {
  DayCertification,
  Ledger,
  Life,
  Revision,
  WaitingEvent,
  Waits,
} from '../ports/ledger.ts';
import { parse, readAll, schemaVersion } from './item.ts';
import { type Plain, part, type Update } from './table.ts';

export const idIn = (item: Plain) =>
  Number(String(item[ledgerTable.partitionKey]).split('#').at(-1));

/**
 * The index of the undelivered lists an item under the first of these for which an entry of its
 * outbox waits.
 */
export const waits = ['pending', 'digest', 'held', 'undeliverable'] as const satisfies Waits[];

/**
 * Counts writes to the outbox. A write that depends on an earlier read requires that the count is
 * unchanged.
 */
export const outboxWrites = 'outbox_writes';

const certificationItem = z.object({
  [ledgerTable.byDay.sortKey]: z.int(),
  day: z.iso.date(),
  // By newer rules than these, every hash would differ.
  fingerprint: z.string().check(z.refine((whole) => rulesOf(whole) <= rulesNow)),
  revision: z.int().check(z.positive()),
  presence,
  earlier: z.optional(z.array(z.object({ fingerprint: z.string(), until: z.number() }))),
  organization_id: z.nullable(z.int()),
  assessment_name: z.nullable(z.string()),
  untold: z.optional(z.boolean()),
});

/** By their fields. By the first rules they are the attribute `fields`. */
const hashes = z.record(z.string(), z.string());

const byDayEntry = z.pick(certificationItem, {
  [ledgerTable.byDay.sortKey]: true,
  fingerprint: true,
  presence: true,
});

/** Other attributes of an entry stay as they are. */
const entry = z.looseObject({
  /**
   * The event as it is published. It is parsed apart: a broken event must not hide the
   * certification.
   */
  event: z.unknown(),
  owes: z.enum(['event-and-digest', 'digest']),
  held: z.optional(z.boolean()),
  /**
   * For a held entry, or one behind it: the knowledge before it. For the first one, that is
   * subscribers' knowledge.
   */
  told: z.optional(z.string()),
  /** The code with which SNS refused it for good. */
  undeliverable: z.optional(z.string()),
});
const outboxItem = z.object({
  // An item that was written before there was an outbox owes nothing.
  outbox: z._default(z.record(z.string().check(z.regex(/^\d+$/)), entry), {}),
});
const firstSeen = z.object({ first_seen: z.optional(z.iso.datetime()) });
const eventBody = z.pipe(jsonText, itself(certificationEventSchema));

/** Each revision is an attribute, so that one write can add the newest and remove the oldest. */
const revisionsKept = 50;

/**
 * The attributes that list an item in the index under this, or remove it from the index. A crash can leave an item
 * listed under another; the next look there puts it right.
 */
export function filedUnder(integration: string, wait: Waits | undefined): Plain {
  const { partitionKey, sortKey } = ledgerTable.undelivered;
  if (wait !== undefined) return { [partitionKey]: ledgerKeys.indexed(integration, wait) };
  return { [partitionKey]: undefined, [sortKey]: undefined };
}

/**
 * The entries of the outbox in the order of their revisions, without a look at the events. Order is
 * kept within a certification, so an event behind a held one is held with it.
 */
export function outboxOf(item: Plain) {
  let isBehindHeld = false;
  // JavaScript orders names that are integers.
  return Object.entries(parse(outboxItem, item).outbox).map(([revision, raw]) => {
    const { owes, held, undeliverable } = raw;
    isBehindHeld ||= held === true && undeliverable === undefined;
    const published = isBehindHeld ? 'held' : 'pending';
    const undelivered = undeliverable === undefined ? published : 'undeliverable';
    const waits: Waits = owes === 'digest' ? 'digest' : undelivered;
    return { revision: Number(revision), waits, raw };
  });
}

/** The item's place in the index; `undefined`: nothing is owed. */
export function waitOf(item: Plain): Waits | undefined {
  const outbox = outboxOf(item);
  return waits.find((wait) => outbox.some(({ waits }) => waits === wait));
}

/** The events of the outbox that wait for one of these, in the order of their revisions. */
export function eventsOf(item: Plain, waits: readonly Waits[]): WaitingEvent[] {
  const certificationId = idIn(item);
  return outboxOf(item)
    .filter((entry) => waits.includes(entry.waits))
    .map(({ revision, raw: { event, owes, undeliverable: code } }) => ({
      certificationId,
      revision,
      event: parse(eventBody, item, event),
      owes,
      ...(code !== undefined && { code }),
    }));
}

export function parseCertification(item: Plain): Certification {
  const parsed = parse(certificationItem, item);
  const { assessment_id: id, fingerprint: whole, earlier, untold, ...known } = parsed;
  const fields = parse(hashes, item, item['hashes'] ?? item['fields']);
  const [outbox = []] = readAll([item], outboxOf);
  return {
    ...known,
    id,
    fingerprint: { whole, fields },
    ...(earlier && { earlier }),
    ...(outbox.length > 0 && outbox.every(({ waits }) => waits === 'held') && { isHeld: true }),
    ...(untold && { isUntold: true }),
  };
}

export function parseIndexed(item: Plain): [id: number, known: DayCertification] {
  const { assessment_id, ...known } = parse(byDayEntry, item);
  return [assessment_id, known];
}

/** @throws LedgerCorruptError */
export function parseLife(item: Plain): Life {
  const outbox = new Map(outboxOf(item).map((entry) => [entry.revision, entry]));
  const revisions = Object.keys(item).flatMap((name) => /^revision:(\d+)$/.exec(name)?.[1] ?? []);
  return {
    certification: parseCertification(item),
    firstSeen: parse(firstSeen, item).first_seen,
    revisions: revisions
      .map(Number)
      .sort((a, b) => a - b)
      .map((revision) => {
        const { waits, raw } = outbox.get(revision) ?? {};
        const code = raw?.undeliverable;
        return {
          revision,
          ...parse(revisionNoted, item, item[`revision:${revision}`]),
          ...(waits && { waits }),
          ...(code !== undefined && { code }),
          isBehind: waits === 'held' && raw?.held !== true,
        };
      }),
  };
}

/** The notes on a revision. `late` is the event's; undefined where there is none. */
type Note = Pick<Revision, 'kind' | 'at' | 'late' | 'undone'>;

/**
 * The attributes that a change sets. The history has no value of a record, only names of fields.
 */
export function changeAttributes(integration: string, change: Change, note: Note): Plain {
  const { revision, found } = change;
  const changed =
    change.kind === 'withdrawn' || change.changed.length === 0 ? undefined : change.changed;
  const noted = {
    revision,
    changed_at: note.at,
    [`revision:${revision}`]: { ...note, changed, found },
    [`revision:${revision - revisionsKept}`]: undefined,
    ...(note.kind !== 'baseline' && lastEventAttributes(integration, note.at)),
  };
  if (change.kind === 'withdrawn') return { ...noted, presence: 'withdrawn' };
  const { assessment, fingerprint, earlier } = change;
  return {
    ...noted,
    [ledgerTable.byDay.partitionKey]: ledgerKeys.indexed(integration, assessment.certified_on),
    [ledgerTable.byDay.sortKey]: assessment.id,
    day: assessment.certified_on,
    ...hashAttributes(fingerprint),
    presence: 'present',
    ...(earlier && { earlier }),
    organization_id: assessment.organization_id,
    // A record's name may have any length; an item has at most 400 KB.
    assessment_name: briefName(assessment.assessment_name),
    schema: schemaVersion,
  };
}

/**
 * Older code finds an item without `fields` unreadable, instead of different. The index has
 * `fingerprint`, so that keeps its name.
 */
export const hashAttributes = ({ whole, fields }: Fingerprint): Plain => ({
  ...{ fingerprint: whole, hashes: fields },
  fields: undefined,
});

/** As text, instants are in order only if they have the same number of digits. */
export const momentOf = (at: Temporal.Instant) => at.toString({ smallestUnit: 'millisecond' });

/** The attributes that list an item by its last event. */
function lastEventAttributes(integration: string, at: string): Plain {
  const { partitionKey, sortKey } = ledgerTable.byEvent;
  const moment = momentOf(Temporal.Instant.from(at));
  return {
    [partitionKey]: ledgerKeys.indexed(integration, moment.slice(0, 7)),
    [sortKey]: moment,
  };
}

/** A certification that the baseline records, with nothing in its outbox. */
export function baselineItem(integration: string, sighting: Sighting, at: string): Plain {
  return {
    [ledgerTable.partitionKey]: ledgerKeys.certification(integration, sighting.assessment.id),
    ...changeAttributes(integration, sighting, { kind: 'baseline', at }),
    first_seen: at,
    outbox: {},
  };
}

/** The arguments of a commit. */
type Commit = Parameters<Ledger['commit']>;

/** The write of a commit: it answers nothing if another tick has made this revision. */
export function committed(integration: string, [change, event, now, destiny]: Commit): Update {
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
  const since = { [ledgerTable.undelivered.sortKey]: momentOf(now) };
  if (revision === 1)
    return {
      set: { ...set, ...index, ...since, first_seen: at, outbox: { [revision]: entry } },
      where: `attribute_not_exists(${ledgerTable.partitionKey})`,
    };
  const place = `outbox${part}${revision}`;
  return {
    set: { ...set, ...(destiny === 'pending' && index), [place]: entry, untold: undefined },
    // An item that is pending already stays so in the index: its held entry has its own mark.
    initial: { ...since, ...(destiny === 'held' && index) },
    add: { [outboxWrites]: 1 },
    where: 'revision = :before',
    values: { ':before': revision - 1 },
    returns: 'ALL_OLD',
  };
}

/**
 * If the change makes the certification again as subscribers were last told, all held events leave
 * the outbox.
 *
 * @returns the other attributes of that write; `undefined`: they stay
 */
export function undoing(
  integration: string,
  item: Plain,
  [change, event, now]: Commit,
): Plain | undefined {
  const { kind, revision } = change;
  const known = parseCertification(item);
  if (known.revision !== revision - 1 || !known.isHeld) return undefined;
  const outbox = outboxOf(item);
  const told = outbox[0]?.raw.told;
  if (told === undefined || !isUndone(told, change)) return undefined;
  const note = { kind, at: now.toString(), late: event.data.late, undone: true } as const;
  const set = changeAttributes(integration, change, note);
  const undone = outbox.map((entry) => entry.revision);
  const untold = kind === 'withdrawn' && isNothing(told);
  return { ...set, ...noted({ ...item, ...set }, undone, 'undone', () => true), untold };
}

/** A field of the notes on these revisions, as far as the history has any. */
export function noted(
  item: Plain,
  revisions: Iterable<number>,
  field: string,
  fieldOf: (notes: unknown) => unknown,
): Plain {
  const names = Array.from(revisions, (revision) => `revision:${revision}`);
  const kept = names.filter((name) => item[name] !== undefined);
  return Object.fromEntries(kept.map((name) => [`${name}${part}${field}`, fieldOf(item[name])]));
}
