import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import { calendar } from './calendar.ts';
import { certifications } from './certifications.ts';
import { integrationState } from './integration-state.ts';
import type { Table } from './table.ts';

/**
 * The ledger of one integration.
 *
 * Every write is of a single item, and conditional: of two ticks that meet, one finds its condition
 * failed and leaves the work to the other.
 */
export function dynamoLedger(table: Table, integration: string, journal: Journal): Ledger {
  const { addYears, ...state } = integrationState(table, integration);
  const days = calendar(table, integration);
  return {
    ...state,
    ...days,
    async touch(touched) {
      const zeros = new Map([...touched].map((day) => [day, 0]));
      await addYears([...zeros.keys()].map((day) => Number(day.slice(0, 4))));
      await days.addToDays(zeros);
    },
    ...certifications(table, integration, journal),
  };
}
