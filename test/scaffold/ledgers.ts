import { type AttributeValue, type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { beforeAll } from 'vitest';
import * as z from 'zod';
import type { Clock } from '../../lambda/clock.ts';
import type { OpsLedger } from '../../lambda/commands/ops-ledger.ts';
import { dynamoLedger } from '../../lambda/ledger/dynamo-ledger.ts';
import { dynamoOpsLedger } from '../../lambda/ledger/dynamo-ops-ledger.ts';
import { Table } from '../../lambda/ledger/table.ts';
import type { Journal } from '../../lambda/ports/journal.ts';
import type { Ledger } from '../../lambda/ports/ledger.ts';
import { createLedgerTable, startDynamoDb } from './ledger-table.ts';
import type { MemoryLedger } from './memory-ledger.ts';
import { MemoryOpsLedger } from './memory-ops-ledger.ts';

/** The ledger of one integration, as ticks and commands see it. */
export interface Ledgers {
  readonly ledger: Ledger;
  readonly opsLedger: OpsLedger;
}

/** The place of an integration's ledger. */
export type LedgersOf = (integration: string, clock: Clock, journal: Journal) => Ledgers;

export function ledgersIn(memory: MemoryLedger): Ledgers {
  return {
    ledger: memory,
    opsLedger: new MemoryOpsLedger(memory),
  };
}

const consumed = z.object({ ConsumedCapacity: z.object({ CapacityUnits: z.number() }) });

/** One DynamoDB per worker: files share it with their modules. */
let server: ReturnType<typeof startDynamoDb> | undefined;
let tables = 0;

/** A table for this file alone in the worker's embedded DynamoDB. Call it at the top of a file. */
export function ledgersInDynamoDb(): DynamoDbLedgers {
  const ledgers = new DynamoDbLedgers();
  beforeAll(() => ledgers.start());
  return ledgers;
}

export class DynamoDbLedgers {
  #client: DynamoDBClient | undefined;
  tableName = 'not there yet';

  async start(): Promise<void> {
    server ??= startDynamoDb();
    this.#client = (await server).client;
    tables += 1;
    this.tableName = `ledger-${tables}`;
    await createLedgerTable(this.#client, this.tableName);
  }

  get client(): DynamoDBClient {
    if (this.#client === undefined) throw new Error('the table is made before the first test');
    return this.#client;
  }

  table(clock: Clock): Table {
    return new Table(this.client, this.tableName, clock);
  }

  readonly of: LedgersOf = (integration, clock, journal) => {
    const table = this.table(clock);
    return {
      ledger: dynamoLedger(table, integration, journal),
      opsLedger: dynamoOpsLedger(table, integration),
    };
  };

  /** The read or write units that each request of this work consumes. */
  async unitsOf(work: () => Promise<unknown>): Promise<number[]> {
    const units: number[] = [];
    this.client.middlewareStack.add(
      (next) => async (call) => {
        const input = { ...call.input, ReturnConsumedCapacity: 'TOTAL' };
        const answer = await next({ ...call, input });
        units.push(consumed.parse(answer.output).ConsumedCapacity.CapacityUnits);
        return answer;
      },
      { name: 'units', step: 'initialize' },
    );
    await work().finally(() => this.client.middlewareStack.remove('units'));
    return units;
  }

  /** All items of an integration. */
  async items(integration: string): Promise<Record<string, AttributeValue>[]> {
    const own = new RegExp(`#${integration}(#|$)`);
    const items: Record<string, AttributeValue>[] = [];
    const pages = paginateScan({ client: this.client }, { TableName: this.tableName });
    for await (const { Items = [] } of pages)
      items.push(...Items.filter(({ pk }) => own.test(pk?.S ?? '')));
    return items;
  }
}
