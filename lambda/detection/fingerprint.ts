import { createHmac, hash } from 'node:crypto';
import type { Assessment, ResultPart } from '../events/assessment.ts';
import { remembered } from './remembered.ts';

/**
 * The fields whose change is an update. Fields that the API document does not name are passed on
 * but not compared: a partner that adds a field to every record must not cause an update of each.
 */
const comparedFields = [
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
] as const;

/** Characters of base64url: 72 bits. */
const fieldHashLength = 12;
/** 120 bits. */
const fingerprintLength = 20;

/**
 * A record is read far more often than it changes, and its fingerprint takes eleven HMACs. So
 * fingerprints are remembered by content: under one hash of the salt and the compared values, so
 * that nothing of a person stays in memory for it. They are shared, and therefore frozen.
 */
const latest = remembered<Fingerprint>(2_000);

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
  const fingerprint = latest(content, () => keyedFingerprint(assessment.id, values, salt));
  ofRecords.set(assessment, { salt, fingerprint });
  return fingerprint;
}

/** The same, computed anew: tests judge by it what `fingerprintOf` remembers. */
export function freshFingerprintOf(assessment: Assessment, salt: string): Fingerprint {
  return keyedFingerprint(assessment.id, comparedValues(assessment), salt);
}

function comparedValues(assessment: Assessment): readonly unknown[] {
  return comparedFields.map((field) =>
    field === 'results' ? partSet(assessment.results) : (assessment[field] ?? null),
  );
}

function keyedFingerprint(id: number, values: readonly unknown[], salt: string): Fingerprint {
  const fields = Object.fromEntries(
    comparedFields.map((field, n) => [
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

function partSet(parts: readonly ResultPart[] | null | undefined): string[] | null {
  if (parts === null || parts === undefined) return null;
  const distinct = new Set(
    parts.map((part) =>
      JSON.stringify([
        part.assessment_id,
        part.assessment_name,
        part.certified_on,
        part.proctor_id,
        part.proctor_name,
      ]),
    ),
  );
  return [...distinct].sort();
}

function keyedHash(salt: string, length: number, value: unknown): string {
  const digest = createHmac('sha256', salt).update(JSON.stringify(value)).digest('base64url');
  return digest.slice(0, length);
}
