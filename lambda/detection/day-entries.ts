import type { Assessment } from '../events/assessment.ts';
import type { Calendar, DayEntry, Proof } from './calendar.ts';
import { type Change, countDeltas } from './compare.ts';
import { digestOf } from './fingerprint.ts';

/** Entries of days that were read just now, on their way to the calendar. */
export type FreshEntries = Map<string, DayEntry>;

/** What a read of days showed, and what it proved. */
export interface ReadOfDays {
  readonly assessments: readonly Assessment[];
  readonly proof?: Proof['kind'];
}

/**
 * What the calendar learns of these days, and of others that the read showed.
 *
 * @param readAt when the read began, in milliseconds since the epoch: what came while it went on it may have overlooked
 */
export function dayEntries(
  days: readonly string[],
  { assessments, proof }: ReadOfDays,
  readAt: number,
  salt: string,
): FreshEntries {
  const byDay = Map.groupBy(assessments, ({ certified_on }) => certified_on);
  const all = new Set([...days, ...byDay.keys()]);
  return new Map(
    [...all].map((day): [string, DayEntry] => {
      const rows = byDay.get(day) ?? [];
      const count = rows.length;
      const proven = proof !== undefined && {
        proof: { kind: proof, at: readAt, count },
        digest: digestOf({ assessments: rows }, salt),
      };
      return [day, { count, readAt, ...proven }];
    }),
  );
}

/** What the calendar had, and what was committed or is missing now: whatever else differs goes on to differ. */
function asBefore(
  entries: FreshEntries,
  changes: readonly Change[],
  calendar: Pick<Calendar, 'entry'>,
): FreshEntries {
  const deltas = countDeltas(changes);
  return new Map(
    [...entries].map(([day, { missing }]): [string, DayEntry] => {
      const before = calendar.entry(day);
      const lacking = missing === undefined ? 0 : missing - (before.missing ?? 0);
      const count = before.count + (deltas.get(day) ?? 0) - lacking;
      return [day, { ...before, count, ...(missing !== undefined && { missing }) }];
    }),
  );
}

/**
 * What came of a read, for the calendar. `unproven`: what was not seen may be there. `in-parts`: a part of a day that
 * does not fit into one tick. `failed`: something could not be committed. `in-vain`: cut off, and not to be gone on with.
 */
export type Outcome = 'proven' | 'unproven' | 'in-parts' | 'failed' | 'in-vain';

/**
 * The entries of days after a read of them that began at `readAt`. Of days that were read together, what was seen
 * is true, and they stay due until a read of fewer proves them.
 */
export function entriesAfter(
  outcome: Outcome,
  { entries, isJoint }: { readonly entries: FreshEntries; readonly isJoint: boolean },
  changes: readonly Change[],
  calendar: Pick<Calendar, 'entry'>,
  readAt: number,
): FreshEntries {
  if (outcome === 'proven') return entries;
  const isStillDue = isJoint && outcome !== 'failed';
  const known = isJoint || outcome !== 'unproven' ? asBefore(entries, changes, calendar) : entries;
  return new Map(
    [...known].map(([day, entry]): [string, DayEntry] => {
      if (isStillDue) return [day, entry];
      const { failures = 0 } = calendar.entry(day);
      // Both were for a read to come, and this was it.
      const { askedAt: _, dueAt: __, proof, digest, ...facts } = entry;
      // What a read did not come to is as it was.
      const isAsProven = outcome === 'in-vain' && proof !== undefined && digest !== undefined;
      const read = { ...facts, ...(isAsProven && { proof, digest }), readAt };
      return [day, outcome === 'in-parts' ? read : { ...read, failures: failures + 1 }];
    }),
  );
}

/** Days of which a read proved nothing, or that the host did not answer for: from now on, so few are read together. */
export function separated(entries: FreshEntries, days: readonly string[]): FreshEntries {
  const together = Math.ceil(days.length / 2);
  const read = new Set(days);
  return new Map(
    [...entries].map(([day, entry]) => [day, read.has(day) ? { ...entry, together } : entry]),
  );
}

/** What the partner counts of these days and did not show is expected of the first from now on. */
export function attributeRest(
  entries: FreshEntries,
  [day]: readonly string[],
  read: { readonly count: number },
): void {
  const entry = day === undefined ? undefined : entries.get(day);
  if (day === undefined || entry === undefined) return;
  const shown = [...entries.values()].reduce((sum, { count }) => sum + count, 0);
  const rest = Math.max(0, read.count - shown);
  entries.set(day, { ...entry, count: entry.count + rest });
}

/**
 * How certifications that moved, or were withdrawn by a tick that was cut short, alter days that were not read. What
 * has left a day that lacks some is one of these, and not in its count; where that is wrong, the day's count differs,
 * and it is read.
 */
export function movesElsewhere(
  changes: readonly Change[],
  read: ReadonlyMap<string, DayEntry>,
  calendar: Pick<Calendar, 'entry'>,
): Map<string, DayEntry> {
  const deltas = countDeltas(changes);
  const withdrawn = Map.groupBy(
    changes.filter((change) => change.kind === 'withdrawn'),
    ({ before }) => before.day,
  );
  const elsewhere = [...deltas.keys(), ...withdrawn.keys()].filter((day) => !read.has(day));
  return new Map(
    elsewhere.map((day) => {
      const entry = calendar.entry(day);
      const { missing = 0 } = entry;
      const delta = deltas.get(day) ?? 0;
      const gone = withdrawn.get(day)?.length ?? 0;
      const found = Math.min(missing, gone + Math.max(0, -delta));
      const left = found > 0 && { missing: missing - found };
      return [day, { ...entry, ...left, count: entry.count + delta - gone + found }];
    }),
  );
}

/** The calendar with these days asked for. */
export function asking(calendar: Calendar, days: readonly string[], askedAt: number): Calendar {
  return calendar.with(days.map((day) => [day, { ...calendar.entry(day), askedAt }]));
}

/** What a tick has asked for and not read: the next one goes on with it. A day without an entry is due anyway. */
export function stillAsked(before: Calendar, after: Calendar): Map<string, DayEntry> {
  const isLeft = ([day, { askedAt }]: readonly [string, DayEntry]) =>
    askedAt !== undefined && before.entries.has(day) && before.entry(day).askedAt === undefined;
  return new Map([...after.entries].filter(isLeft));
}
