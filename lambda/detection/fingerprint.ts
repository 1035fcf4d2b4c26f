import { createHmac, hash } from 'node:crypto';
import type { Assessment, ResultPart } from '../events/assessment.ts';

/**
 * The fields of the API document, whose change is an update. Others are passed on but not compared: a partner that
 * adds a field to every record must not cause an update of each. Their order is that of the hashes: it stays.
 */
export const documentedFields = [
  'seid',
  'name',
  'first_name',
  'last_name',
  'email',
  'organization_id',
  'organization_name',
  'assessment_name',
  'certified_on',
  'results',
] as const satisfies readonly (keyof Assessment)[];

export const documentedOfParts = [
  'assessment_id',
  'assessment_name',
  'certified_on',
  'proctor_id',
  'proctor_name',
] as const satisfies readonly (keyof ResultPart)[];

/** Characters of base64url: 72 bits. */
const fieldHashLength = 12;
/** 120 bits. */
const fingerprintLength = 20;

/**
 * A record is read far more often than it changes, and its fingerprint takes eleven HMACs. So the latest are
 * remembered by content: under one hash of the salt and the compared values, so that nothing of a person stays in
 * memory for it. They are shared, and therefore frozen.
 */
const latest = new Map<string, Fingerprint>();
const mostRemembered = 2_000;

/** A tick looks at the same answer several times: the record itself then leads to its fingerprint. */
const ofRecords = new WeakMap<
  Assessment,
  { readonly salt: string; readonly fingerprint: Fingerprint }
>();

/** What the ledger keeps of a record's content: enough to see a change, nothing to read. */
export interface Fingerprint {
  /** Over all compared fields. */
  readonly whole: string;
  /** One keyed hash a field, to name the fields that changed. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Keyed hashes of an assessment's compared fields.
 *
 * The key is the integration's salt, so that a hash cannot be looked up in a dictionary of names;
 * the id goes into each hash, so that two people with one name do not share one.
 * The order of `results` does not count: they are compared as a set of parts. Null and absent are the same.
 */
export function fingerprintOf(assessment: Assessment, salt: string): Fingerprint {
  const known = ofRecords.get(assessment);
  if (known?.salt === salt) return known.fingerprint;
  const values = comparedValues(assessment);
  const content = hash('sha256', JSON.stringify([salt, assessment.id, values]), 'base64url');
  const fingerprint = latest.get(content) ?? keyedFingerprint(assessment.id, values, salt);
  // In the order in which they were asked for.
  latest.delete(content);
  latest.set(content, fingerprint);
  const [oldest] = latest.size > mostRemembered ? latest.keys() : [];
  if (oldest !== undefined) latest.delete(oldest);
  ofRecords.set(assessment, { salt, fingerprint });
  return fingerprint;
}

/** The same, computed anew: tests judge by it what `fingerprintOf` remembers. */
export function freshFingerprintOf(assessment: Assessment, salt: string): Fingerprint {
  return keyedFingerprint(assessment.id, comparedValues(assessment), salt);
}

function comparedValues({ results, ...assessment }: Assessment): readonly unknown[] {
  const parts = results?.map((part) =>
    JSON.stringify(documentedOfParts.map((field) => part[field])),
  );
  const values = { ...assessment, results: parts && [...new Set(parts)].sort() };
  return documentedFields.map((field) => values[field] ?? null);
}

function keyedFingerprint(id: number, values: readonly unknown[], salt: string): Fingerprint {
  const fields = Object.fromEntries(
    documentedFields.map((field, n) => [
      field,
      keyedHash(salt, fieldHashLength, [id, field, values[n]]),
    ]),
  );
  const whole = keyedHash(salt, fingerprintLength, [id, Object.values(fields)]);
  return Object.freeze({ whole, fields: Object.freeze(fields) });
}

/** The compared fields that differ. A field that the older fingerprint does not know is no change. */
export function changedFields(before: Fingerprint, after: Fingerprint): string[] {
  if (before.whole === after.whole) return [];
  return Object.entries(after.fields)
    .filter(([field, hash]) => (before.fields[field] ?? hash) !== hash)
    .map(([field]) => field);
}

function keyedHash(salt: string, length: number, value: unknown): string {
  const digest = createHmac('sha256', salt).update(JSON.stringify(value)).digest('base64url');
  return digest.slice(0, length);
}

/** The newest page of everything, unfiltered, and how many there are. */
export interface Pulse {
  readonly assessments: readonly Assessment[];
  /** `meta.count`: every assessment in scope. */
  readonly count: number;
}

/**
 * A keyed digest of the newest page and the count: as long as it stays, nothing that a pulse can
 * see has changed, and the ledger need not be asked.
 *
 * The page's oldest day may be cut off by its end, and a host with unstable ties shows other records
 * of that day each time. So only the days that the page shows whole count; if it shows just one, the
 * total alone does, and edits are the audits' to find.
 */
export function pulseDigest({ assessments, count }: Pulse, salt: string): string {
  const oldest = assessments.reduce(
    (day, { certified_on }) => (certified_on < day ? certified_on : day),
    assessments[0]?.certified_on ?? '',
  );
  const isCutOff = assessments.length < count;
  const whole = assessments.filter(({ certified_on }) => !isCutOff || certified_on !== oldest);
  return digestOf(whole, salt, count);
}

/** A keyed digest of a set of assessments, their content included, whatever their order. */
export function digestOf(assessments: readonly Assessment[], salt: string, count?: number): string {
  const entries = assessments
    .map((assessment) => `${assessment.id}:${fingerprintOf(assessment, salt).whole}`)
    .sort();
  const digest = createHmac('sha256', salt)
    .update(JSON.stringify([count ?? null, entries]))
    .digest();
  return digest.subarray(0, 12).toString('base64url');
}

/** Whether the page shows one day only, and so perhaps not all of it. */
export function isOneDay({ assessments }: Pulse): boolean {
  return new Set(assessments.map(({ certified_on }) => certified_on)).size === 1;
}
