import type { DayEntry } from '../detection/calendar.ts';
import type { OperationParts } from './parts.ts';

/**
 * Days of the calendar are due to be read again, before all others: ticks see to it, also if nobody
 * does anything more. Needs the lease.
 */
export async function makeDue(
  { ledger, clock }: Pick<OperationParts, 'ledger' | 'clock'>,
  calendar: ReadonlyMap<string, DayEntry>,
  isMeant: (entry: DayEntry, day: string) => boolean,
): Promise<void> {
  const due = [...calendar].filter(([day, entry]) => entry.readAt > 0 && isMeant(entry, day));
  const askedAt = clock.now().epochMilliseconds;
  await ledger.saveDays(new Map(due.map(([day, entry]) => [day, { ...entry, askedAt }])));
  await ledger.saveState({ dueAt: 0 });
}
