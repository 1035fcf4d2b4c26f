import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import { CalendarMonths } from './calendar-months.ts';
import { Certifications } from './certifications.ts';
import { IntegrationState } from './integration-state.ts';
import { Outboxes } from './outboxes.ts';
import type { Table } from './table.ts';

/**
 * The ledger of one integration.
 *
 * Every write is of a single item, and conditional: of two ticks that meet, one finds its condition
 * failed and leaves the work to the other.
 */
export function dynamoLedger(table: Table, integration: string, journal: Journal): Ledger {
  const state = new IntegrationState(table, integration);
  const certifications = new Certifications(table, integration, journal);
  const calendar = new CalendarMonths(table, integration);
  const outboxes = new Outboxes(table, integration);
  return {
    state: () => state.read(),
    recordedState: () => state.readRecorded(),
    takeLease: (lease, now) => state.takeLease(lease, now),
    complete: (lease, now, changes) => state.complete(lease, now, changes),
    saveState: (changes, lease) => state.save(changes, lease),
    giveBackLease: (lease) => state.giveBackLease(lease),
    addYears: (years) => state.addYears(years),
    known: (ids) => certifications.known(ids),
    lives: (ids) => certifications.lives(ids),
    knownOfDay: (day) => certifications.knownOfDay(day),
    recordSilently: (sightings, now) => certifications.recordSilently(sightings, now),
    commit: async (change, event, now, destiny) => {
      const filed = await certifications.commit(change, event, now, destiny);
      if (filed === 'undone') return filed;
      if (filed?.isMisfiled) await outboxes.refile(filed.committed.certificationId);
      return filed?.committed;
    },
    calendar: (years) => calendar.read(years),
    saveDays: (entries) => calendar.save(entries),
    addToDays: (deltas) => calendar.add(deltas),
    leftovers: (owing) => outboxes.waiting(owing === 'event' ? 'pending' : 'digest'),
    settle: (delivered, rest) => outboxes.settle(delivered, rest),
    park: (refused) => outboxes.park(refused),
    kept: (waiting) => outboxes.kept(waiting),
    countKept: (waiting) => outboxes.countKept(waiting),
  };
}
