import type { RangeRead } from '../ports/partner-reader.ts';
import type { Calendar, DayEntry } from './calendar.ts';
import { type Change, countDeltas } from './compare.ts';
import { digestOf } from './fingerprint.ts';
import type { ReadResult } from './worklist.ts';

/** Entries of days that were read just now, on their way to the calendar. */
export type FreshEntries = Map<string, DayEntry>;

/**
 * What the calendar learns of these days, and of others that the read showed.
 *
 * @param readAt when the read began, in milliseconds since the epoch: what came while it went on it may have overlooked
 */
export function dayEntries(
  days: readonly string[],
  { assessments, proof }: Pick<RangeRead, 'assessments' | 'proof'>,
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

/**
 * The entries of days after a read of them that began at `readAt`. Unless the read proves them, they have what the
 * calendar had, with what was committed or is missing now: whatever else differs goes on to differ. Of days that were
 * read together, what was seen is true, and they stay due until a read of fewer proves them.
 */
export function entriesAfter(
  result: ReadResult,
  { entries, isJoint }: { readonly entries: FreshEntries; readonly isJoint: boolean },
  changes: readonly Change[],
  calendar: Pick<Calendar, 'entry'>,
  readAt: number,
): FreshEntries {
  if (result === 'done') return entries;
  const isStillDue = isJoint && result !== 'failed';
  const deltas = countDeltas(changes);
  return new Map(
    [...entries].map(([day, fresh]): [string, DayEntry] => {
      const before = calendar.entry(day);
      const { failures = 0, missing: missed = 0 } = before;
      const { missing = before.missing } = fresh;
      const lacking = (missing ?? 0) - missed;
      const count = before.count + (deltas.get(day) ?? 0) - lacking;
      const known = { ...before, count, ...(missing !== undefined && { missing }) };
      if (isStillDue) return [day, known];
      // Both were for a read to come, and this was it.
      const { askedAt: _, dueAt: __, ...facts } = result === 'unproven' ? fresh : known;
      const { proof: ___, digest: ____, ...unproven } = facts;
      // What a read did not come to is as it was.
      const read = { ...(result === 'in-vain' ? facts : unproven), readAt };
      return [day, result === 'left' ? read : { ...read, failures: failures + 1 }];
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
