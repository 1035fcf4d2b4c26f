import { type Certification, compare, type Sighting } from '../../lambda/decisions/compare.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';

/** New and changed certifications, where no row is an older answer. */
export function sightingsOf(
  read: readonly Assessment[],
  known: ReadonlyMap<number, Certification>,
  salt: string,
): readonly Sighting[] {
  return compare(read, known, salt, 0, 0, new Set(), () => true).changes;
}
