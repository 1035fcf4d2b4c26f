import type { Calendar, DayEntry } from './calendar.ts';
import { type Change, countDeltas } from './compare.ts';

/** Entries of days that were read just now, on their way to the calendar. */
export type FreshEntries = Map<string, DayEntry>;

/** What the partner counts of a stretch and did not show readably is expected of its first day from now on. */
export function attributeRest(
  entries: FreshEntries,
  [day]: readonly string[],
  read: { readonly count: number; readonly assessments: readonly unknown[] },
): void {
  const entry = day === undefined ? undefined : entries.get(day);
  if (day === undefined || entry === undefined) return;
  const rest = Math.max(0, read.count - read.assessments.length);
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
