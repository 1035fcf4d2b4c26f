import { ledgerTable } from '../names.ts';
import type { OpsLedger, Waits } from '../operations/ops-ledger.ts';
import { certificationKey } from './certification-item.ts';
import { parseStory } from './certification-story.ts';
import { CommandLog } from './command-log.ts';
import { IntegrationState } from './integration-state.ts';
import { KeptEvents } from './kept-events.ts';
import { undeliveredKey } from './outbox-item.ts';
import type { Table } from './table.ts';

/** What the people on duty ask of one integration's ledger. */
export function dynamoOpsLedger(table: Table, integration: string): OpsLedger {
  const state = new IntegrationState(table, integration);
  const kept = new KeptEvents(table, integration);
  const log = new CommandLog(table, integration);
  const { name, partitionKey } = ledgerTable.undelivered;
  const count = (waits: Waits) =>
    table.count({
      IndexName: name,
      KeyConditionExpression: '#index = :index',
      ExpressionAttributeNames: { '#index': partitionKey },
      values: { ':index': undeliveredKey(integration, waits) },
    });
  return {
    pause: (pause, call) => state.pause(pause, call),
    resume: (call) => state.resume(call),
    waiting: async () => {
      const all = [
        count('pending'),
        count('digest'),
        count('held'),
        count('undeliverable'),
      ] as const;
      const [pending, digest, held, undeliverable] = await Promise.all(all);
      return { pending, digest, held, undeliverable };
    },
    story: async (id) => {
      const item = await table.get(certificationKey(integration, id));
      return item && parseStory(item);
    },
    kept: (waits, after) => kept.pages(waits, after),
    decide: (...decision) => kept.decide(...decision),
    record: (command) => log.record(command),
    conclude: (operation, outcome) => log.conclude(operation, outcome),
    recorded: () => log.read(),
  };
}
