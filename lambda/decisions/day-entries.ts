import type { Calendar, DayEntry } from './calendar.ts';
import { type Change, countDeltas } from './compare.ts';
import { type DayRange, isWithin } from './days.ts';
import type { Judged } from './days-read.ts';
import { digestOf } from './fingerprint.ts';
import type { RangeRead } from './partner-reads.ts';
import type { ReadResult } from './worklist.ts';

/** Entries of days that were just read, on their way to the calendar. */
export type FreshEntries = Map<string, DayEntry>;

/**
 * The calendar's entries for these days, and for others that the read showed.
 *
 * @param readAt when the read began, in milliseconds since the epoch: it may have overlooked later
 * arrivals
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
 * The entries of days after a read that began at `readAt`. Without a proof, an entry has the
 * calendar's count, corrected by the commits and the missing certifications of now. So any other
 * difference stays visible. Days that were read together stay due until a read of fewer days proves
 * them; their corrected counts are valid.
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
      // Both asked for a read, and this was it.
      const { askedAt: _, dueAt: __, ...facts } = result === 'unproven' ? fresh : known;
      const { proof: ___, digest: ____, ...unproven } = facts;
      // A read in vain may not have reached the day, so its proof stays.
      const read = { ...(result === 'in-vain' ? facts : unproven), readAt };
      return [day, result === 'left' ? read : { ...read, failures: failures + 1 }];
    }),
  );
}

type Mark = Pick<DayEntry, 'unread' | 'unreadAt' | 'dueAt'>;
type Used = 'step' | 'isRead' | 'isFirstReading' | 'isInParts' | 'assessments' | 'begunAt';

/**
 * The entries with the marks of days that the baseline could not read. Only a first reading makes
 * them; a restarted baseline does not. A read by the rule takes away as much of a mark as it shows,
 * and the rest when another one, `withdrawAfter` later, shows no more. A marked entry also stands
 * for the days before it that nothing has read. Where one of these gets an entry of its own, or a
 * read passes it by, it is marked as well.
 *
 * @param found changes that were committed
 */
export function marked(
  entries: FreshEntries,
  result: ReadResult,
  { step, isRead, isFirstReading, isInParts, assessments, begunAt }: Pick<Judged, Used>,
  found: readonly Change[],
  { isAnew, withdrawAfterMs }: { readonly isAnew: boolean; readonly withdrawAfterMs: number },
  calendar: Pick<Calendar, 'days' | 'entry' | 'unreadDayOf'>,
): FreshEntries {
  // It reads history that no marked entry stands for yet.
  const isFirst = isFirstReading && !isAnew;
  const isMade = isFirst && result === 'unproven';
  const isMet = isRead && isFirst === isFirstReading && ['done', 'unproven'].includes(result);
  const shown = countDays(assessments);
  const isFound = isMet && !isFirst;
  const here = isRead && !isFirstReading ? explainedBy(found, calendar) : nothingFound;
  const explained = isFound ? here : nothingFound;
  const isShown = isFirstReading || result === 'done' || (isMet && !step.isDivisible);
  const elsewhere = [...explained.keys()].filter((day) => !entries.has(day));
  const others = elsewhere.map((day) => [day, calendar.entry(day)] as const);
  const all = new Map([
    ...countedOnce(others, here, calendar),
    ...(isShown ? entries : countedOnce(entries, here, calendar)),
  ]);
  const isHere = (day: string) => isMet && isWithin(day, step.range);
  const isParted = (day: string) => !isFirst && !isHere(day) && isStoodFor(day, calendar);
  // The rows of earlier parts are not known any more.
  const lackingOn = (day: string, count: number) =>
    isInParts ? 0 : Math.max(0, count - (shown.get(day) ?? 0));
  const markOf = (day: string, count: number): Mark => {
    if (isMade) return { unread: lackingOn(day, count) };
    if (isParted(day)) return { unread: 0 };
    if (isMet && isFirst) return {};
    const rest = restOf(calendar.entry(day), explained.get(day) ?? 0);
    return isHere(day) ? lookedAt(rest, begunAt, withdrawAfterMs) : rest;
  };
  const after = new Map(
    [...all].map(([day, { unread: _, unreadAt: __, ...entry }]): [string, DayEntry] => [
      day,
      { ...entry, ...markOf(day, entry.count) },
    ]),
  );
  return isFound ? withPassed(after, step.range, calendar) : after;
}

/**
 * A day before the range, which a read of the marked entry passes by, stays marked. Its mark has no
 * rows: those of a mark are in one entry, so that one row explains one certification.
 */
function withPassed(
  entries: FreshEntries,
  range: DayRange,
  calendar: Pick<Calendar, 'days' | 'entry' | 'unreadDayOf'>,
): FreshEntries {
  const passed = passedBy(range, calendar);
  if (passed === undefined) return entries;
  const marks = calendar.unreadDayOf(passed) ?? passed;
  if (entries.get(marks)?.unread === undefined) return entries;
  const entry = entries.get(passed) ?? calendar.entry(passed);
  return new Map([...entries, [passed, { ...entry, unread: 0 }]]);
}

/**
 * The entries of days that were read without a count of their own: history that was found there is
 * in their marked counts already.
 */
function countedOnce(
  entries: Iterable<readonly [day: string, entry: DayEntry]>,
  found: ReadonlyMap<string, number>,
  calendar: Pick<Calendar, 'entry'>,
): readonly (readonly [string, DayEntry])[] {
  return [...entries].map(([day, entry]) => {
    const twice = Math.min(found.get(day) ?? 0, calendar.entry(day).unread ?? 0);
    return [day, { ...entry, count: entry.count - twice }];
  });
}

/** A mark without the rows that were found. The last of them ends it. */
function restOf({ unread: before, unreadAt }: DayEntry, found: number): Mark {
  if (before === undefined || (before > 0 && before <= found)) return {};
  return { unread: Math.max(0, before - found), ...(unreadAt !== undefined && { unreadAt }) };
}

/** The second read by the rule ends a mark. */
function lookedAt({ unread, unreadAt }: Mark, begunAt: number, withdrawAfterMs: number): Mark {
  const firstAt = unreadAt ?? begunAt;
  if (unread === undefined || begunAt - firstAt >= withdrawAfterMs) return {};
  return { unread, unreadAt: firstAt, dueAt: begunAt + withdrawAfterMs };
}

/** Nothing has read it yet, and a later, marked entry stands for it. */
function isStoodFor(day: string, calendar: Pick<Calendar, 'entry' | 'unreadDayOf'>): boolean {
  const { readAt, unread } = calendar.entry(day);
  return readAt === 0 && unread === undefined && calendar.unreadDayOf(day) !== undefined;
}

/** The day before a range that was read, if no entry stands for it any more. */
function passedBy(
  { from }: DayRange,
  calendar: Pick<Calendar, 'days' | 'entry' | 'unreadDayOf'>,
): string | undefined {
  const day = from && calendar.days.findLast((one) => one < from.toString());
  return day !== undefined && isStoodFor(day, calendar) ? day : undefined;
}

const nothingFound: ReadonlyMap<string, number> = new Map();

/** By marked day, how many certifications were found that it lacked. */
function explainedBy(
  found: readonly Change[],
  calendar: Pick<Calendar, 'unreadDayOf'>,
): ReadonlyMap<string, number> {
  const marks = found.flatMap((change) =>
    change.kind === 'created' ? (calendar.unreadDayOf(change.assessment.certified_on) ?? []) : [],
  );
  return new Map([...Map.groupBy(marks, (day) => day)].map(([day, all]) => [day, all.length]));
}

function countDays(assessments: RangeRead['assessments']): ReadonlyMap<string, number> {
  const byDay = Map.groupBy(assessments, ({ certified_on }) => certified_on);
  return new Map([...byDay].map(([day, { length }]) => [day, length]));
}

/** Halves the number of days that are read together, after a read without a proof or an answer. */
export function separated(entries: FreshEntries, days: readonly string[]): FreshEntries {
  const together = Math.ceil(days.length / 2);
  const read = new Set(days);
  return new Map(
    [...entries].map(([day, entry]) => [day, read.has(day) ? { ...entry, together } : entry]),
  );
}

/** Adds rows that the partner counts and did not show to the expected count of the first day. */
export function attributeRest(
  entries: FreshEntries,
  [day]: readonly string[],
  read: { readonly count: number },
): FreshEntries {
  const entry = day === undefined ? undefined : entries.get(day);
  if (day === undefined || entry === undefined) return entries;
  const shown = [...entries.values()].reduce((sum, { count }) => sum + count, 0);
  const rest = Math.max(0, read.count - shown);
  return new Map([...entries, [day, { ...entry, count: entry.count + rest }]]);
}

/**
 * The entries of days that were not read, after certifications moved or a tick that was cut short
 * withdrew them. A certification that leaves a day with missing ones is taken for one of these,
 * which are not in the day's count. Where that is wrong, the day's count differs, and the day is
 * read.
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

/** The calendar with a request to read these days. */
export function asking(calendar: Calendar, days: readonly string[], askedAt: number): Calendar {
  return calendar.with(days.map((day) => [day, { ...calendar.entry(day), askedAt }]));
}

/**
 * Requests to read that this tick has made and not met: the next one reads these days. A day
 * without an entry is due anyway.
 */
export function stillAsked(before: Calendar, after: Calendar): Map<string, DayEntry> {
  const isLeft = ([day, { askedAt }]: readonly [string, DayEntry]) =>
    askedAt !== undefined && before.entries.has(day) && before.entry(day).askedAt === undefined;
  return new Map([...after.entries].filter(isLeft));
}
