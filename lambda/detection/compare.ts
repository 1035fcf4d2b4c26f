import type { Assessment } from '../events/assessment.ts';
import { changedFields, type Fingerprint, fingerprintOf } from './fingerprint.ts';

/** An assessment as the ledger knows it. */
export interface Certification {
  readonly id: number;
  /** `certified_on` when it was last read. */
  readonly day: string;
  readonly fingerprint: Fingerprint;
  /** 1 for the first sighting, one more for every change since. */
  readonly revision: number;
}

/** A difference between what was read and what was known, ready to be committed. */
export interface Change {
  readonly kind: 'created' | 'updated';
  readonly assessment: Assessment;
  readonly fingerprint: Fingerprint;
  /** The revision that this change makes. */
  readonly revision: number;
  /** Names of the fields that differ; empty for `created`. */
  readonly changed: readonly string[];
}

/**
 * What is new or different among the assessments read, by the ids that `known` holds.
 * An assessment that was read twice (it moved from one page to the next) counts once, as last read.
 * A move to another day is an update of `certified_on`.
 */
export function compare(
  read: readonly Assessment[],
  known: ReadonlyMap<number, Certification>,
  salt: string,
): Change[] {
  const distinct = new Map(read.map((assessment) => [assessment.id, assessment]));
  return [...distinct.values()].flatMap((assessment): Change[] => {
    const fingerprint = fingerprintOf(assessment, salt);
    const before = known.get(assessment.id);
    if (before === undefined)
      return [{ kind: 'created', assessment, fingerprint, revision: 1, changed: [] }];
    const changed = changedFields(before.fingerprint, fingerprint);
    if (changed.length === 0) return [];
    return [{ kind: 'updated', assessment, fingerprint, revision: before.revision + 1, changed }];
  });
}
