import { type Calendar, type DayEntry, following } from './calendar.ts';
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

/**
 * Days whose proven read and the ledger do not agree yet: the audits come back to them.
 *
 * @param before since when these days were unproven; left out where operations are told of the reason
 */
export function forgetProofs(
  entries: FreshEntries,
  standing: readonly Certification[],
  before?: Pick<Calendar, 'entry'>,
): void {
  for (const { day } of standing) {
    const entry = entries.get(day);
    if (entry === undefined) continue;
    const unproven = { count: entry.count, readAt: entry.readAt };
    entries.set(day, before ? following(before.entry(day), unproven) : unproven);
  }
}

/** What is missing and could not be asked for yet: its day goes on to differ, so the next tick goes on. */
export function expectStill(
  entries: FreshEntries,
  unasked: readonly Certification[],
  before: Pick<Calendar, 'entry'>,
): void {
  for (const { day } of unasked) {
    const entry = entries.get(day);
    if (entry === undefined) continue;
    const differing = { count: entry.count + 1, readAt: entry.readAt };
    entries.set(day, following(before.entry(day), differing));
  }
}

/** How certifications that moved alter the counts of days that were not read. */
export function movesElsewhere(
  changes: readonly Change[],
  read: ReadonlyMap<string, DayEntry>,
): Map<string, number> {
  return new Map([...countDeltas(changes)].filter(([day]) => !read.has(day)));
}
