import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import type { DayEntry } from '../detection/calendar.ts';
import type { Certification, Change, Sighting } from '../detection/compare.ts';
import { certificationEventSchema } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import { jsonText } from '../json-text.ts';
import { ledgerTable } from '../names.ts';
import type {
  Bookmark,
  DayCertification,
  Revision,
  State,
  StateChanges,
  Undelivered,
} from '../ports.ts';
import { LedgerCorruptError } from './errors.ts';
import type { Plain } from './table.ts';

/** Written into every item, so that a later version can tell what it reads. */
export const schemaVersion = 1;

export const stateKey = (integration: string) => `STATE#${integration}`;
export const certificationKey = (integration: string, id: number) => `CERT#${integration}#${id}`;
export const dayKey = (integration: string, day: string) => `${integration}#${day}`;
export const undeliveredKey = (integration: string, destiny: 'pending' | 'held') =>
  `${integration}#${destiny}`;
/** @param month `YYYY-MM` */
export const calendarKey = (integration: string, month: string) =>
  `CALENDAR#${integration}#${month}`;

const day = z.iso.date().transform((text) => Temporal.PlainDate.from(text));

const bookmark = z.object({
  from: day.optional(),
  to: day.optional(),
  offset: z.int(),
  anchors: z.array(z.int()),
});

const stateItem = z.object({
  /** Key of the fingerprints' hashes; random, made once, never changed. */
  salt: z.string().min(1),
  baseline: z
    .object({
      status: z.enum(['running', 'completed']),
      start_day: day,
      before: day.optional(),
      slice_days: z.int().positive().optional(),
      bookmark: bookmark.optional(),
    })
    .optional(),
  /** Since then some outbox may hold an event that was never settled. */
  dirty_since: z.number().optional(),
  heartbeat: z.string().optional(),
  expected: z.int().default(0),
  unexplained: z.int().default(0),
  collapsed_from: z.int().default(0),
  pulse_digest: z.string().optional(),
  years: z.set(z.int()).default(() => new Set<number>()),
  bookmark: bookmark.extend({ day: z.iso.date() }).nullish(),
  /** Times are milliseconds since the epoch. */
  recent_audit_at: z.number().default(0),
  history_audit_at: z.number().default(0),
  back_off: z.object({ until: z.number(), failures: z.int() }).optional(),
  paused: z.boolean().default(false),
  reported: z.array(z.string()).default(() => []),
});

const outboxEntry = z.object({
  /** The event as it is published. */
  event: z.string(),
  owes: z.enum(['event-and-digest', 'digest']),
  held: z.boolean().optional(),
});

const presence = z.enum(['present', 'withdrawn']);

const certificationItem = z.object({
  [ledgerTable.byDay.sortKey]: z.int(),
  day: z.iso.date(),
  fingerprint: z.string(),
  fields: z.record(z.string(), z.string()),
  revision: z.int().positive(),
  presence,
  organization_id: z.int(),
  assessment_name: z.string(),
});

const revisionItem = z.object({
  kind: z.enum(['baseline', 'created', 'updated', 'withdrawn', 'restored']),
  at: z.iso.datetime(),
  changed: z.array(z.string()).default(() => []),
});

/** Read apart from the certification: what is wrong with an event must not hide what is known. */
const outboxItem = z.object({
  [ledgerTable.byDay.sortKey]: z.int(),
  /** By revision. */
  outbox: z.record(z.string().regex(/^\d+$/), outboxEntry),
});

const byDayEntry = z.object({
  [ledgerTable.byDay.sortKey]: z.int(),
  fingerprint: z.string(),
  presence,
});

const proofItem = z.object({
  kind: z.enum(['single-page', 'key-seam', 'split']).optional(),
  at: z.number().optional(),
  digest: z.string().optional(),
  read_at: z.number(),
});

type StateItem = z.output<typeof stateItem>;

export function parseState(item: Plain): State {
  const parsed: StateItem = parse(stateItem, item);
  const { baseline, dirty_since, heartbeat, back_off, pulse_digest } = parsed;
  return {
    salt: parsed.salt,
    baseline: baseline
      ? {
          status: baseline.status,
          startDay: baseline.start_day,
          ...(baseline.before && { before: baseline.before }),
          ...(baseline.slice_days !== undefined && { sliceDays: baseline.slice_days }),
          ...(baseline.bookmark && { bookmark: bookmarkOf(baseline.bookmark) }),
        }
      : { status: 'none' },
    ...(dirty_since !== undefined && { dirtySince: instant(dirty_since) }),
    ...(heartbeat !== undefined && { heartbeat }),
    expected: parsed.expected,
    unexplained: parsed.unexplained,
    ...(parsed.collapsed_from > 0 && { collapsedFrom: parsed.collapsed_from }),
    ...(pulse_digest !== undefined && { pulseDigest: pulse_digest }),
    years: [...parsed.years],
    ...(parsed.bookmark && {
      bookmark: { ...bookmarkOf(parsed.bookmark), day: parsed.bookmark.day },
    }),
    recentAuditAt: parsed.recent_audit_at,
    historyAuditAt: parsed.history_audit_at,
    ...(back_off && { backOff: { until: instant(back_off.until), failures: back_off.failures } }),
    paused: parsed.paused,
    reported: parsed.reported,
  };
}

/** The attributes of the state item that these changes set. */
export function stateAttributes(changes: Omit<StateChanges, 'dirty'>): Plain {
  const { baseline } = changes;
  const attributes = {
    baseline: baseline && {
      status: baseline.status,
      start_day: baseline.startDay?.toString(),
      before: baseline.before?.toString(),
      slice_days: baseline.sliceDays,
      bookmark: baseline.bookmark && bookmarkAttributes(baseline.bookmark),
    },
    bookmark: changes.bookmark && {
      ...bookmarkAttributes(changes.bookmark),
      day: changes.bookmark.day,
    },
    expected: changes.expected,
    unexplained: changes.unexplained,
    collapsed_from: changes.collapsedFrom,
    pulse_digest: changes.pulseDigest,
    recent_audit_at: changes.recentAuditAt,
    history_audit_at: changes.historyAuditAt,
    reported: changes.reported,
  };
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

function bookmarkOf({ from, to, offset, anchors }: z.output<typeof bookmark>): Bookmark {
  return { range: { ...(from && { from }), ...(to && { to }) }, offset, anchors };
}

function bookmarkAttributes({ range: { from, to }, offset, anchors }: Bookmark) {
  return { from: from?.toString(), to: to?.toString(), offset, anchors };
}

export function parseCertification(item: Plain): Certification {
  const parsed = parse(certificationItem, item);
  const { day, revision, presence, organization_id, assessment_name } = parsed;
  return {
    id: parsed.assessment_id,
    day,
    fingerprint: { whole: parsed.fingerprint, fields: parsed.fields },
    revision,
    presence,
    organization_id,
    assessment_name,
  };
}

/** One attribute a revision, so that one write can add the newest and remove the oldest. */
export const revisionAttribute = (revision: number) => `revision:${revision}`;
const revisionsKept = 50;

/** The newest revisions, newest last: none of an item that was written before they were kept. */
export function parseHistory(item: Plain): Revision[] {
  return Object.keys(item)
    .flatMap((name) => /^revision:(\d+)$/.exec(name)?.[1] ?? [])
    .map((revision) => ({
      revision: Number(revision),
      ...parse(revisionItem, item[revisionAttribute(Number(revision))], nameOf(item)),
    }))
    .sort((a, b) => a.revision - b.revision);
}

/** The revision that falls out of the history when this one comes in. */
export const forgottenRevision = (revision: number) => revisionAttribute(revision - revisionsKept);

/** No value of a record: names of fields at most. */
function revisionItemOf(change: Change, kind: Revision['kind'], at: string): Plain {
  const changed = change.kind === 'withdrawn' ? [] : change.changed;
  return { kind, at, ...(changed.length > 0 && { changed }) };
}

export function parseDayCertification(item: Plain): DayCertification {
  const { assessment_id, fingerprint, presence } = parse(byDayEntry, item);
  return { id: assessment_id, fingerprint, presence };
}

/** The revisions of the outbox whose events are undelivered; the events themselves are not looked at. */
export function parseUndelivered(item: Plain): Map<number, Undelivered> {
  const { outbox } = parse(outboxItem, item);
  return new Map(
    Object.entries(outbox).flatMap(([revision, { owes, held = false }]) =>
      owes === 'digest' ? [] : [[Number(revision), held ? 'held' : 'pending']],
    ),
  );
}

interface Outbox {
  readonly owed: readonly OwedEvent[];
  readonly held: readonly OwedEvent[];
}

/** The outbox of a certification, in the order of its revisions. */
export function parseOutbox(item: Plain): Outbox {
  const parsed = parse(outboxItem, item);
  const entries = Object.entries(parsed.outbox)
    .map(([revision, { event, owes, held = false }]) => ({
      held,
      owed: {
        certificationId: parsed.assessment_id,
        revision: Number(revision),
        event: parse(eventBody, event, String(item[ledgerTable.partitionKey])),
        owes,
      },
    }))
    .sort((a, b) => a.owed.revision - b.owed.revision);
  return {
    owed: entries.filter(({ held }) => !held).map(({ owed }) => owed),
    held: entries.filter(({ held }) => held).map(({ owed }) => owed),
  };
}

/** A month of the calendar: per day one number, and one map about the last read. */
export const countAttribute = (day: string) => `count:${day}`;
export const proofAttribute = (day: string) => `proof:${day}`;

export function parseMonth(item: Plain): [day: string, entry: DayEntry][] {
  const days = Object.keys(item).flatMap((name) => /^(?:count|proof):(.+)$/.exec(name)?.[1] ?? []);
  return [...new Set(days)].map((day) => {
    const count = parse(z.int().default(0), item[countAttribute(day)], nameOf(item));
    const read = parse(proofItem.optional(), item[proofAttribute(day)], nameOf(item));
    const { kind, at, digest, read_at = 0 } = read ?? {};
    return [
      day,
      {
        count,
        readAt: read_at,
        ...(digest !== undefined && { digest }),
        ...(kind !== undefined && at !== undefined && { proof: { kind, at } }),
      },
    ];
  });
}

export function proofItemOf({ proof, digest, readAt }: DayEntry): Plain {
  return {
    ...proof,
    ...(digest !== undefined && { digest }),
    read_at: readAt,
  };
}

/** The attributes that a sighting sets, whether the item is new or not. */
function sightingAttributes(integration: string, sighting: Sighting, now: string): Plain {
  const { assessment, fingerprint, revision } = sighting;
  return {
    [ledgerTable.byDay.partitionKey]: dayKey(integration, assessment.certified_on),
    [ledgerTable.byDay.sortKey]: assessment.id,
    day: assessment.certified_on,
    fingerprint: fingerprint.whole,
    fields: fingerprint.fields,
    revision,
    presence: 'present',
    organization_id: assessment.organization_id,
    assessment_name: assessment.assessment_name,
    changed_at: now,
    schema: schemaVersion,
  };
}

/** The attributes that a change of a known certification sets. */
export function changeAttributes(integration: string, change: Change, now: string): Plain {
  const history = {
    [revisionAttribute(change.revision)]: revisionItemOf(change, change.kind, now),
  };
  if (change.kind !== 'withdrawn')
    return { ...sightingAttributes(integration, change, now), ...history };
  return { revision: change.revision, presence: 'withdrawn', changed_at: now, ...history };
}

/** A new certification with nothing in its outbox; what the baseline records stays like this. */
export function newCertificationItem(
  integration: string,
  sighting: Sighting,
  now: string,
  kind: 'baseline' | 'created',
): Plain {
  return {
    [ledgerTable.partitionKey]: certificationKey(integration, sighting.assessment.id),
    ...sightingAttributes(integration, sighting, now),
    [revisionAttribute(sighting.revision)]: revisionItemOf(sighting, kind, now),
    first_seen: now,
    outbox: {},
  };
}

export function outboxEntryOf(event: object, destiny: 'pending' | 'held'): Plain {
  const held = destiny === 'held' ? { held: true } : {};
  return { event: JSON.stringify(event), owes: 'event-and-digest', ...held };
}

const eventBody = jsonText.pipe(certificationEventSchema);

const instant = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms);

function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  name = nameOf(value),
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // Paths and codes only: a message could quote a value.
  throw new LedgerCorruptError(
    name,
    parsed.error.issues.map(({ path, code }) => `${path.join('.') || 'item'} (${code})`),
  );
}

function nameOf(item: unknown): string {
  return typeof item === 'object' && item !== null && ledgerTable.partitionKey in item
    ? String(item[ledgerTable.partitionKey])
    : 'without a key';
}
