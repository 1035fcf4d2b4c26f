import * as z from 'zod/mini';
import { type CommandOutcome, type CommandRecord, commandRecord } from '../ports/command-record.ts';
import { nameOf, parse, schemaVersion } from './item.ts';
import type { Plain, Table } from './table.ts';

const kept = 100;

const record = z.omit(commandRecord, { operation: true });

/** One attribute a command, so that one write adds the newest and another removes the oldest. */
const prefix = 'operation:';

/** The changing commands of an integration: one item, the last hundred. */
export class CommandLog {
  readonly #table: Table;
  readonly #key: string;

  constructor(table: Table, integration: string) {
    this.#table = table;
    this.#key = `COMMANDS#${integration}`;
  }

  async record({ operation, ...record }: CommandRecord): Promise<void> {
    const after = await this.#table.update(this.#key, {
      UpdateExpression: 'SET #operation = :record, #schema = :schema',
      ExpressionAttributeNames: { '#operation': prefix + operation, '#schema': 'schema' },
      values: { ':record': record, ':schema': schemaVersion },
      ReturnValues: 'ALL_NEW',
    });
    const oldest = operationsIn(after ?? {}).slice(kept);
    if (oldest.length === 0) return;
    await this.#table.update(this.#key, {
      UpdateExpression: `REMOVE ${oldest.map((_, index) => `#o${index}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(
        oldest.map((operation, index) => [`#o${index}`, prefix + operation]),
      ),
    });
  }

  /** Of one that is no longer kept, nothing is noted. */
  async conclude(operation: string, outcome: CommandOutcome): Promise<void> {
    await this.#table.update(this.#key, {
      UpdateExpression: 'SET #operation.outcome = :outcome',
      ConditionExpression: 'attribute_exists(#operation)',
      ExpressionAttributeNames: { '#operation': prefix + operation },
      values: { ':outcome': outcome },
    });
  }

  async read(): Promise<readonly CommandRecord[]> {
    const item = (await this.#table.get(this.#key)) ?? {};
    return operationsIn(item).map((operation) => ({
      operation,
      ...parse(record, item[prefix + operation], nameOf(item)),
    }));
  }
}

/** Newest first. */
function operationsIn(item: Plain): string[] {
  return Object.keys(item)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .sort()
    .reverse();
}
