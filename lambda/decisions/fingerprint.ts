import { createHmac } from 'node:crypto';
import * as z from 'zod/mini';
import type { Assessment, ResultPart } from '../events/assessment.ts';

/**
 * The fields of the API document: a change of one is an update. Other fields are passed on but not
 * compared: a partner that adds a field to every record must not cause an update of each. The
 * hashes have this order, so it must stay.
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

/** The values of a record that its reading has altered. */
interface Altered {
  /** The paths of values that are not as they came. */
  readonly paths: readonly string[];
  /** The record by the first rules: null where a text came as a number or a boolean. */
  readonly first: Assessment;
}

/** Beside the record, since nothing of it may leave with the record. */
const altered = new WeakMap<Assessment, Altered>();

export function noteAltered(assessment: Assessment, what: Altered): void {
  altered.set(assessment, what);
}

/**
 * The paths at which a record is not as documented: null, absent, or of another type, as the reader
 * has noted. For an educator without a State Educator ID, null is documented.
 */
export function oddPaths(assessment: Assessment): string[] {
  const paths: string[] = documentedFields.filter((field) =>
    field === 'seid' ? assessment.seid === undefined : (assessment[field] ?? null) === null,
  );
  for (const part of assessment.results ?? [])
    for (const field of documentedOfParts)
      if ((part[field] ?? null) === null) paths.push(`results[].${field}`);
  return [...new Set([...paths, ...(altered.get(assessment)?.paths ?? [])])];
}

/**
 * The rules of new fingerprints: how a record becomes the text that is hashed, and with which key.
 * Each fingerprint ends with the number of its rules.
 *
 * 1: a text that came as a number or a boolean counts as null. Without a number at its end.
 * 2: it counts as its digits, or its word.
 */
export const rulesNow = 2;

/** @param whole of a fingerprint */
export const rulesOf = (whole: string): number => Number(/\.(\d+)$/.exec(whole)?.[1] ?? 1);

/** The hash alone, as it is by all rules if reading the record has altered nothing. */
export const hashIn = (whole: string): string => whole.replace(/\.\d+$/, '');

/** For a rollback: hashes by new rules are unreadable to older code. */
const rehashedAfterMs = 3_600_000;

/** Since when ticks have come to their end by these rules: milliseconds since the epoch. */
export const rulesNoted = z.object({ number: z.int(), since: z.number() });

/** Whether hashes by older rules are replaced by now. */
export const isRehashing = (
  rules: Readonly<z.output<typeof rulesNoted>> | undefined,
  nowMs: number,
): boolean => rules?.number === rulesNow && nowMs - rules.since >= rehashedAfterMs;

/** Characters of base64url: 72 bits. */
const fieldHashLength = 12;
/** 120 bits. */
const fingerprintLength = 20;
/** 96 bits. */
const digestLength = 16;

/** 48 bits: of 300 rows, one changed row in about a trillion is taken for another. */
const markLength = 8;

/**
 * A cache: a tick looks at each record of an answer several times, and a fingerprint takes eleven
 * HMACs.
 */
const ofRecords = new WeakMap<Assessment, { readonly salt: string } & Fingerprint>();

/** The ledger's trace of a record's content: enough to see a change, nothing to read. */
export interface Fingerprint {
  /** The hash over all compared fields. */
  readonly whole: string;
  /** One keyed hash a field, to name the fields that changed. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Keyed hashes of an assessment's compared fields.
 *
 * The key is the integration's salt, so that a hash cannot be looked up in a dictionary of names.
 * The id goes into each hash, so that two people with one name do not share one. The order of
 * `results` and of names does not count: parts are compared as a set. Null and absent are the same.
 *
 * @param rules those of the fingerprint that it is compared with
 */
export function fingerprintOf(
  assessment: Assessment,
  salt: string,
  rules: number = rulesNow,
): Fingerprint {
  const { first = assessment } = altered.get(assessment) ?? {};
  const { whole, fields } = hashesOf(rules === 1 ? first : assessment, salt);
  return { whole: rules === 1 ? whole : `${whole}.${rulesNow}`, fields };
}

function hashesOf(assessment: Assessment, salt: string): Fingerprint {
  const known = ofRecords.get(assessment);
  if (known?.salt === salt) return known;
  const { id, results, ...others } = assessment;
  const parts = results?.map((part) =>
    JSON.stringify(documentedOfParts.map((field) => part[field])),
  );
  const values = { ...others, results: parts && [...new Set(parts)].sort() };
  const fields: Record<string, string> = {};
  for (const field of documentedFields) {
    const content = JSON.stringify([id, field, values[field] ?? null]);
    const hash = createHmac('sha256', salt).update(content).digest('base64url');
    fields[field] = hash.slice(0, fieldHashLength);
  }
  const content = JSON.stringify([id, Object.values(fields)]);
  const hash = createHmac('sha256', salt).update(content).digest('base64url');
  const hashes = { salt, whole: hash.slice(0, fingerprintLength), fields };
  ofRecords.set(assessment, hashes);
  return hashes;
}

/** Whether the record is as this fingerprint has it, by the fingerprint's own rules. */
export const isAsIn = (assessment: Assessment, whole: string, salt: string): boolean =>
  fingerprintOf(assessment, salt, rulesOf(whole)).whole === whole;

/** A short mark of a row as it is; the id is part of the fingerprint. */
export const markOf = (assessment: Assessment, salt: string): string =>
  fingerprintOf(assessment, salt).whole.slice(0, markLength);

/** The compared fields that differ. A field that the older fingerprint lacks is no change. */
export function changedFields(before: Fingerprint, after: Fingerprint): string[] {
  if (before.whole === after.whole) return [];
  return Object.entries(after.fields)
    .filter(([field, hash]) => (before.fields[field] ?? hash) !== hash)
    .map(([field]) => field);
}

/** The newest page of the unfiltered list, and the total. */
export interface Pulse {
  readonly assessments: readonly Assessment[];
  /** `meta.count`: every assessment in scope. */
  readonly count: number;
}

/** The oldest day of a newest page that does not show all: it may show that day in part. */
export function cutOffDay({ assessments, count }: Pulse): string | undefined {
  if (assessments.length >= count) return undefined;
  const [first] = assessments;
  return assessments.reduce(
    (day, { certified_on }) => (certified_on < day ? certified_on : day),
    first?.certified_on ?? '',
  );
}

/**
 * A keyed digest of rows with their content, in any order. While it stays the same for the newest
 * page and the total, nothing has changed that a pulse can see, and the ledger need not be asked.
 *
 * @param count the total, if the rows are a page of it. The page's end may cut off its oldest day,
 * and a host with unstable ties shows other records of that day each time. So only days that the
 * page shows whole count. If it shows just one day, the total alone counts, and audits find edits.
 */
export function digestOf(
  { assessments, count }: Pick<Pulse, 'assessments'> & Partial<Pulse>,
  salt: string,
): string {
  const cutOff = count === undefined ? undefined : cutOffDay({ assessments, count });
  const entries = assessments
    .filter(({ certified_on }) => certified_on !== cutOff)
    .map((assessment) => `${assessment.id}:${fingerprintOf(assessment, salt).whole}`)
    .sort();
  const content = JSON.stringify([count ?? null, entries]);
  const hash = createHmac('sha256', salt).update(content).digest('base64url');
  return hash.slice(0, digestLength);
}
