import { Calendar, type Proof } from '../detection/calendar.ts';
import type { RecentWindow } from '../detection/days.ts';
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
  return new Calendar(await ledger.calendar(years), window.days);
}

/** What the state keeps of a calendar. */
export function calendarLearned(
  calendar: Calendar,
  window: RecentWindow,
  settings: AuditSettings,
  auditsFrom: number,
): Pick<StateChanges, 'expected' | 'dueAt' | 'auditsFrom'> {
  const recentFrom = window.from;
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
