import { type Certification, compare, type Sighting } from '../detection/compare.ts';
import { fingerprintOf } from '../detection/fingerprint.ts';
import type { Assessment } from '../events/assessment.ts';
import type { TickParts } from './parts.ts';

export interface Sightings {
  readonly changes: readonly Sighting[];
  /** Rows of a replica that lags, and until when it may: milliseconds since the epoch. */
  readonly older: readonly { readonly day: string; readonly until: number }[];
}

/** What is new or different among the rows read; those that are older than what is known tell nothing. */
export function sightingsAmong(
  { rules, clock }: Pick<TickParts, 'rules' | 'clock'>,
  read: readonly Assessment[],
  known: ReadonlyMap<number, Certification>,
  salt: string,
): Sightings {
  const now = clock.now().epochMilliseconds;
  const isOlder = (row: Assessment) => {
    const before = known.get(row.id);
    return before !== undefined && rules.isOlderAnswer(before, fingerprintOf(row, salt).whole, now);
  };
  const untilOf = ({ id }: Assessment) =>
    Math.max(now, ...(known.get(id)?.earlier ?? []).map(({ until }) => until));
  return {
    changes: compare(
      read.filter((row) => !isOlder(row)),
      known,
      salt,
    ),
    older: read.filter(isOlder).map((row) => ({ day: row.certified_on, until: untilOf(row) })),
  };
}
