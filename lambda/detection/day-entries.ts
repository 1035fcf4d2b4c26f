import type { Assessment } from '../events/assessment.ts';
import type { Calendar, DayEntry, Proof } from './calendar.ts';
import { type Change, countDeltas } from './compare.ts';
import { digestOf } from './pulse.ts';

/** Entries of days that were read just now, on their way to the calendar. */
export type FreshEntries = Map<string, DayEntry>;

/** What a read of days showed, and what it proved. */
export interface ReadOfDays {
  readonly assessments: readonly Assessment[];
  readonly proof?: Proof['kind'];
}

/** When a read began and ended: milliseconds since the epoch. */
export interface ReadTimes {
  readonly begunAt: number;
  readonly readAt: number;
}

/** What the calendar learns of these days, and of others that the read showed. */
export function dayEntries(
  days: readonly string[],
  { assessments, proof }: ReadOfDays,
  { begunAt, readAt }: ReadTimes,
  salt: string,
): FreshEntries {
  const byDay = Map.groupBy(assessments, ({ certified_on }) => certified_on);
  const all = new Set([...days, ...byDay.keys()]);
  return new Map(
    [...all].map((day): [string, DayEntry] => {
      const rows = byDay.get(day) ?? [];
      const count = rows.length;
      const proven = proof !== undefined && {
        proof: { kind: proof, at: begunAt, count },
        digest: digestOf(rows, salt),
      };
      return [day, { count, readAt, ...proven }];
    }),
  );
}

/** What the calendar had, and what was committed or is missing now: whatever else differs goes on to differ. */
export function asBefore(
  entries: FreshEntries,
  changes: readonly Change[],
  calendar: Pick<Calendar, 'entry'>,
  readAt: number,
): FreshEntries {
  const deltas = countDeltas(changes);
  return new Map(
    [...entries].map(([day, { missing }]): [string, DayEntry] => {
      const before = calendar.entry(day);
      const lacking = missing === undefined ? 0 : missing - (before.missing ?? 0);
      const count = before.count + (deltas.get(day) ?? 0) - lacking;
      const known = missing !== undefined && { missing };
      return [day, { count, readAt, ...known }];
    }),
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
 * How certifications that moved alter days that were not read. What has left a day that lacks some is one
 * of these, and not in its count; where that is wrong, the day's count differs, and it is read.
 */
export function movesElsewhere(
  changes: readonly Change[],
  read: ReadonlyMap<string, DayEntry>,
  calendar: Pick<Calendar, 'entry'>,
): Map<string, DayEntry> {
  const elsewhere = [...countDeltas(changes)].filter(([day]) => !read.has(day));
  return new Map(
    elsewhere.map(([day, delta]) => {
      const entry = calendar.entry(day);
      const { missing = 0 } = entry;
      const found = delta < 0 ? Math.min(missing, -delta) : 0;
      const left = found > 0 && { missing: missing - found };
      return [day, { ...entry, ...left, count: entry.count + delta + found }];
    }),
  );
}
