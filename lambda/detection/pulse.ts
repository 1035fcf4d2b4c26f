import { createHmac } from 'node:crypto';
import type { Assessment } from '../events/assessment.ts';
import { fingerprintOf } from './fingerprint.ts';

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

/** The last tick that looked has not found everything that the total differed by, or could not commit something. */
export function isLeftToFind({
  pulseDigest,
}: {
  readonly pulseDigest?: string | undefined;
}): boolean {
  return pulseDigest === undefined;
}
