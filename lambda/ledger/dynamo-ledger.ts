import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import { certifications } from './certifications.ts';
import { integrationState } from './integration-state.ts';
import type { Table } from './table.ts';

/**
 * The ledger of one integration. Its items, and the conditions of their writes:
 *
 *   state          the lease is ours; without one: nothing that another tick decides
 *   memory         the lease is ours
 *   a month        none, so each request asks for the lease first (held-lease.ts)
 *   certification  revision, outbox or fingerprint are as they were read; a silent record has none,
 *                  and asks for the lease like a month
 *   commands       the command is recorded (dynamo-ops-ledger.ts)
 *
 * Every write is of a single item. Writes that announce are conditional: of two ticks that meet,
 * one finds its condition failed and leaves the work to the other.
 */
export function dynamoLedger(table: Table, integration: string, journal: Journal): Ledger {
  return {
    ...integrationState(table, integration),
    ...certifications(table, integration, journal),
  };
}
