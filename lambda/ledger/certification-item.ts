import * as z from 'zod/mini';
import {
  type Certification,
  type Change,
  found,
  presence,
  type Sighting,
} from '../detection/compare.ts';
import { briefName } from '../events/fields.ts';
import { ledgerTable } from '../names.ts';
import { type DayCertification, decided, type Revision } from '../ports/ledger.ts';
import { nameOf, parse, schemaVersion } from './item.ts';
import { isAllHeld } from './outbox-item.ts';
import type { Plain } from './table.ts';

export const certificationKey = (integration: string, id: number) => `CERT#${integration}#${id}`;
export const dayKey = (integration: string, day: string) => `${integration}#${day}`;

const certificationItem = z.object({
  [ledgerTable.byDay.sortKey]: z.int(),
  day: z.iso.date(),
  fingerprint: z.string(),
  fields: z.record(z.string(), z.string()),
  revision: z.int().check(z.positive()),
  presence,
  earlier: z.optional(z.array(z.object({ fingerprint: z.string(), until: z.number() }))),
  organization_id: z.nullable(z.int()),
  assessment_name: z.nullable(z.string()),
  untold: z.optional(z.boolean()),
});

const revisionItem = z.object({
  kind: z.enum(['baseline', 'created', 'updated', 'withdrawn', 'restored']),
  at: z.iso.datetime(),
  found: z.optional(found),
  changed: z._default(z.array(z.string()), () => []),
  late: z.optional(z.boolean()),
  undone: z.optional(z.literal(true)),
  decisions: z._default(z.array(decided), () => []),
});

const byDayEntry = z.object({
  [ledgerTable.byDay.sortKey]: z.int(),
  fingerprint: z.string(),
  presence,
});

export function parseCertification(item: Plain): Certification {
  const parsed = parse(certificationItem, item);
  const { day, revision, presence, organization_id, assessment_name } = parsed;
  return {
    id: parsed.assessment_id,
    day,
    fingerprint: { whole: parsed.fingerprint, fields: parsed.fields },
    revision,
    presence,
    ...(parsed.earlier && { earlier: parsed.earlier }),
    organization_id,
    assessment_name,
    ...(isAllHeld(item) && { isHeld: true }),
    ...(parsed.untold && { isUntold: true }),
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
      ...revisionOf(parse(revisionItem, item[revisionAttribute(Number(revision))], nameOf(item))),
    }))
    .sort((a, b) => a.revision - b.revision);
}

const revisionOf = ({ undone, ...revision }: z.output<typeof revisionItem>) => ({
  ...revision,
  ...(undone && { isUndone: undone }),
});

/** The revision that falls out of the history when this one comes in. */
export const forgottenRevision = (revision: number) => revisionAttribute(revision - revisionsKept);

/** No value of a record: names of fields at most. */
function revisionItemOf(change: Change, { kind, at, late, isUndone }: RevisionNote): Plain {
  const changed = change.kind === 'withdrawn' ? [] : change.changed;
  const { found } = change;
  return {
    kind,
    at,
    ...(changed.length > 0 && { changed }),
    ...(found && { found }),
    ...(late !== undefined && { late }),
    ...(isUndone && { undone: true }),
  };
}

/** `late`: of the event; undefined where there is none. */
type RevisionNote = Pick<Revision, 'kind' | 'at' | 'late' | 'isUndone'>;

export function parseDayCertification(item: Plain): DayCertification {
  const { assessment_id, fingerprint, presence } = parse(byDayEntry, item);
  return { id: assessment_id, fingerprint, presence };
}

/** The attributes that a sighting sets, whether the item is new or not. */
function sightingAttributes(integration: string, sighting: Sighting, now: string): Plain {
  const { assessment, fingerprint, revision, earlier } = sighting;
  return {
    [ledgerTable.byDay.partitionKey]: dayKey(integration, assessment.certified_on),
    [ledgerTable.byDay.sortKey]: assessment.id,
    day: assessment.certified_on,
    fingerprint: fingerprint.whole,
    fields: fingerprint.fields,
    revision,
    presence: 'present',
    ...(earlier && { earlier }),
    organization_id: assessment.organization_id,
    // A record may have a name of any length, an item 400 KB.
    assessment_name: briefName(assessment.assessment_name),
    changed_at: now,
    schema: schemaVersion,
  };
}

/** The attributes that a change of a known certification sets. */
export function changeAttributes(
  integration: string,
  change: Change,
  now: string,
  late: boolean,
  isUndone = false,
): Plain {
  const note = { kind: change.kind, at: now, late, ...(isUndone && { isUndone }) };
  const history = { [revisionAttribute(change.revision)]: revisionItemOf(change, note) };
  if (change.kind !== 'withdrawn')
    return { ...sightingAttributes(integration, change, now), ...history };
  return { revision: change.revision, presence: 'withdrawn', changed_at: now, ...history };
}

/** A new certification with nothing in its outbox; what the baseline records stays like this. */
export function newCertificationItem(
  integration: string,
  sighting: Sighting,
  note: RevisionNote,
): Plain {
  const { at: now } = note;
  return {
    [ledgerTable.partitionKey]: certificationKey(integration, sighting.assessment.id),
    ...sightingAttributes(integration, sighting, now),
    [revisionAttribute(sighting.revision)]: revisionItemOf(sighting, note),
    first_seen: now,
    outbox: {},
  };
}
