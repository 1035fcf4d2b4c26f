import type { DayEntry } from '../detection/calendar.ts';
import type { OperationParts } from './parts.ts';

/**
 * Days of the calendar are due to be read again, before all others: ticks see to it, also if nobody
 * does anything more. Needs the lease.
 */
export async function makeDue(
  { ledger }: Pick<OperationParts, 'ledger'>,
  calendar: ReadonlyMap<string, DayEntry>,
  isMeant: (entry: DayEntry, day: string) => boolean,
): Promise<void> {
  const due = [...calendar].filter(([day, entry]) => entry.readAt > 0 && isMeant(entry, day));
  await ledger.saveDays(new Map(due.map(([day, entry]) => [day, { ...entry, readAt: 0 }])));
  // Ops mean it: also when earlier audits have taken more requests than they may.
  await ledger.saveState({ recentAuditAt: 0, historyAuditAt: 0, auditsFrom: 0 });
}
