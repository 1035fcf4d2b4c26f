import { ledgerTable } from '../names.ts';
import type { OpsLedger } from '../operations/ops-ledger.ts';
import type { Waits } from '../ports/ledger.ts';
import { certificationKey, indexKey, parseLife } from './certification-item.ts';
import { commandLog } from './command-log.ts';
import { steering } from './integration-state.ts';
import { keptEvents } from './kept-events.ts';
import type { Table } from './table.ts';

/** What the people on duty ask of one integration's ledger. */
export function dynamoOpsLedger(table: Table, integration: string): OpsLedger {
  const count = (waits: Waits) =>
    table.count({ index: ledgerTable.undelivered, key: indexKey(integration, waits) });
  return {
    ...steering(table, integration),
    ...keptEvents(table, integration),
    ...commandLog(table, integration),
    async waiting() {
      const all = [count('pending'), count('digest'), count('held'), count('undeliverable')];
      const [pending = 0, digest = 0, held = 0, undeliverable = 0] = await Promise.all(all);
      return { pending, digest, held, undeliverable };
    },
    async story(id) {
      const item = await table.get(certificationKey(integration, id));
      return item && parseLife(item);
    },
  };
}
