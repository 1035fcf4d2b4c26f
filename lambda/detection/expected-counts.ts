import type { DayEntry } from './calendar.ts';
import { type Certification, type Change, countDeltas } from './compare.ts';

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

/** Days whose proven read and the ledger do not agree yet: the audits come back to them. */
export function forgetProofs(entries: FreshEntries, standing: readonly Certification[]): void {
  for (const { day } of standing) {
    const entry = entries.get(day);
    if (entry !== undefined) entries.set(day, { count: entry.count, readAt: entry.readAt });
  }
}

/** What is missing and could not be asked for yet: its day goes on to differ, and is due at once, whatever its count says by then. */
export function expectStill(entries: FreshEntries, unasked: readonly Certification[]): void {
  for (const { day } of unasked) {
    const entry = entries.get(day);
    if (entry !== undefined) entries.set(day, { count: entry.count + 1, readAt: 0 });
  }
}

/** How certifications that moved alter the counts of days that were not read. */
export function movesElsewhere(
  changes: readonly Change[],
  read: ReadonlyMap<string, DayEntry>,
): Map<string, number> {
  return new Map([...countDeltas(changes)].filter(([day]) => !read.has(day)));
}
