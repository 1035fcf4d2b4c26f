import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import { certifications } from './certifications.ts';
import { deciding } from './deciding.ts';
import { integrationState } from './integration-state.ts';
import type { Table } from './table.ts';

/**
 * The ledger of one integration.
 *
 * Every write is of a single item. Writes that announce are conditional: of two ticks that meet,
 * one finds its condition failed and leaves the work to the other.
 */
export function dynamoLedger(table: Table, integration: string, journal: Journal): Ledger {
  return {
    ...integrationState(table, integration),
    ...certifications(table, integration, journal),
    ...deciding(table, integration),
  };
}
