import { Calendar, type Proof } from '../detection/calendar.ts';
import { daysIn, type RecentWindow } from '../detection/days.ts';
import { type AuditSettings, auditPace, nextReadAt } from '../detection/due.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { StateChanges } from '../ports/state.ts';

/** Days, by what proves that nothing was overlooked. */
export type ProofCounts = Readonly<Partial<Record<Proof['kind'] | 'none', number>>>;

/** As the ledger has it now, the days of the recent window included. */
export async function readCalendar(
  ledger: Pick<Ledger, 'state' | 'calendar'>,
  window: RecentWindow,
): Promise<Calendar> {
  const { years } = await ledger.state();
  return new Calendar(await ledger.calendar(years), daysIn(window));
}

/** What the state keeps of a calendar. */
export function calendarLearned(
  calendar: Calendar,
  window: RecentWindow,
  settings: AuditSettings,
  auditsFrom: number,
): Pick<StateChanges, 'expected' | 'dueAt' | 'auditsFrom'> {
  const recentFrom = window.from.toString();
  const pace = auditPace(calendar, recentFrom, settings);
  return {
    expected: calendar.total,
    dueAt: nextReadAt(calendar, { ...pace, recentFrom }, auditsFrom),
    auditsFrom,
  };
}

/** Days read since then. */
export function proofsSince(beganMs: number, calendar: Calendar): ProofCounts {
  const proofs: { -readonly [Kind in keyof ProofCounts]: number } = {};
  for (const { readAt, proof } of calendar.days.map((day) => calendar.entry(day)))
    if (readAt >= beganMs) proofs[proof?.kind ?? 'none'] = (proofs[proof?.kind ?? 'none'] ?? 0) + 1;
  return proofs;
}

/**
 * Makes sure that the calendar has these days, before anything of them is committed: otherwise a
 * crash right after could leave a certification on a day that nobody would ever look at.
 *
 * @param known years that the calendar has already
 * @returns those that it has now
 */
export async function touch(
  ledger: Pick<Ledger, 'addYears' | 'addToDays'>,
  known: readonly number[],
  days: Iterable<string>,
): Promise<readonly number[]> {
  const zeros = new Map([...days].map((day) => [day, 0]));
  if (zeros.size === 0) return known;
  const years = new Set([...zeros.keys()].map((day) => Number(day.slice(0, 4))));
  const news = [...years].filter((year) => !known.includes(year));
  if (news.length > 0) await ledger.addYears(news);
  await ledger.addToDays(zeros);
  return [...known, ...news];
}
