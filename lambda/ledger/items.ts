import * as z from 'zod';
import type { Certification, Change } from '../detection/compare.ts';
import { certificationEventSchema } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import { jsonText } from '../json-text.ts';
import { ledgerTable } from '../names.ts';
import { LedgerCorruptError } from './errors.ts';
import type { Plain } from './table.ts';

/** Written into every item, so that a later version can tell what it reads. */
export const schemaVersion = 1;

export const stateKey = (integration: string) => `STATE#${integration}`;
export const certificationKey = (integration: string, id: number) => `CERT#${integration}#${id}`;
export const pendingOf = (integration: string) => `${integration}#pending`;

const stateItem = z.object({
  /** Key of the fingerprints' hashes; random, made once, never changed. */
  salt: z.string().min(1),
  baseline_completed_at: z.string().optional(),
  /** Some outbox may hold an event that was never settled. */
  dirty: z.boolean(),
  lease_owner: z.string().optional(),
  /** Milliseconds since the epoch. */
  lease_until: z.number().optional(),
});

const outboxEntry = z.object({
  /** The event as it is published. */
  event: z.string(),
  owes: z.enum(['event-and-digest', 'digest']),
});

const certificationItem = z.object({
  [ledgerTable.byDay.sortKey]: z.int(),
  day: z.iso.date(),
  fingerprint: z.string(),
  fields: z.record(z.string(), z.string()),
  revision: z.int().positive(),
  /** By revision. */
  outbox: z.record(z.string().regex(/^\d+$/), outboxEntry),
});

export type StateItem = z.infer<typeof stateItem>;
type CertificationItem = z.infer<typeof certificationItem>;

export function parseState(item: Plain): StateItem {
  return parse(stateItem, item);
}

export function parseCertification(item: Plain): Certification {
  const parsed = parse(certificationItem, item);
  return {
    id: parsed.assessment_id,
    day: parsed.day,
    fingerprint: { whole: parsed.fingerprint, fields: parsed.fields },
    revision: parsed.revision,
  };
}

/** The outbox of a certification, in the order of its revisions. */
export function parseOutbox(item: Plain): OwedEvent[] {
  const parsed: CertificationItem = parse(certificationItem, item);
  return Object.entries(parsed.outbox)
    .map(([revision, { event, owes }]) => ({
      certificationId: parsed.assessment_id,
      revision: Number(revision),
      event: parse(eventBody, event, String(item[ledgerTable.partitionKey])),
      owes,
    }))
    .sort((a, b) => a.revision - b.revision);
}

/** The attributes that a change sets, whether the item is new or not. */
export function contentOf(integration: string, change: Change, now: string): Plain {
  const { assessment, fingerprint, revision } = change;
  return {
    [ledgerTable.byDay.partitionKey]: `${integration}#${assessment.certified_on}`,
    [ledgerTable.byDay.sortKey]: assessment.id,
    day: assessment.certified_on,
    fingerprint: fingerprint.whole,
    fields: fingerprint.fields,
    revision,
    presence: 'present',
    changed_at: now,
    schema: schemaVersion,
  };
}

/** A new certification with nothing in its outbox: what the baseline records. */
export function newCertificationItem(integration: string, change: Change, now: string): Plain {
  return {
    [ledgerTable.partitionKey]: certificationKey(integration, change.assessment.id),
    ...contentOf(integration, change, now),
    first_seen: now,
    outbox: {},
  };
}

export function outboxEntryOf(event: object): z.infer<typeof outboxEntry> {
  return { event: JSON.stringify(event), owes: 'event-and-digest' };
}

const eventBody = jsonText.pipe(certificationEventSchema);

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
