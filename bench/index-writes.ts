import { type AttributeValue, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { ledgerTable } from '../lambda/names.ts';

type Item = Readonly<Record<string, AttributeValue>> | undefined;

const indexes = [
  { ...ledgerTable.byDay, projected: [...ledgerTable.byDay.projected] },
  { ...ledgerTable.undelivered, projected: [] },
  { ...ledgerTable.byEvent, projected: [...ledgerTable.byEvent.projected] },
];

/**
 * Counts the writes in the table's indexes, which the embedded DynamoDB does not charge. By
 * AWS's rules ("Write capacity units" of global secondary indexes in the developer guide): an entry
 * that appears, disappears or changes is a write; one whose key changes is two. No entry here is
 * beyond a kilobyte.
 */
export class IndexWrites {
  readonly #table: string;
  readonly #reader: DynamoDBClient;
  #units = 0;

  /**
   * @param writer whose writes are counted
   * @param reader another client, whose reads are not counted anywhere
   */
  constructor(writer: DynamoDBClient, reader: DynamoDBClient, table: string) {
    this.#table = table;
    this.#reader = reader;
    writer.middlewareStack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          const keys = keysOf(commandName, args.input, table);
          const before = await this.#read(keys);
          const result = await next(args).finally(async () => {
            const after = await this.#read(keys);
            for (const [index, item] of before.entries()) this.#count(item, after[index]);
          });
          return result;
        },
      { step: 'initialize', priority: 'high' },
    );
  }

  /** Write units since the last time. */
  take(): number {
    const units = this.#units;
    this.#units = 0;
    return units;
  }

  #read(keys: readonly AttributeValue[]): Promise<Item[]> {
    return Promise.all(
      keys.map(async (key) => {
        const Key = { [ledgerTable.partitionKey]: key };
        const command = new GetItemCommand({ TableName: this.#table, Key, ConsistentRead: true });
        return (await this.#reader.send(command)).Item;
      }),
    );
  }

  #count(before: Item, after: Item): void {
    for (const { partitionKey, sortKey, projected } of indexes) {
      const keyOf = (item: Item) =>
        item?.[partitionKey] && item[sortKey] && textOf([item[partitionKey], item[sortKey]]);
      const restOf = (item: Item) => textOf(projected.map((name) => item?.[name]));
      const [from, to] = [keyOf(before), keyOf(after)];
      if (from !== to) this.#units += (from === undefined ? 0 : 1) + (to === undefined ? 0 : 1);
      else if (to !== undefined && restOf(before) !== restOf(after)) this.#units += 1;
    }
  }
}

const textOf = (values: unknown) => JSON.stringify(values);

/** The partition keys that a command writes to. */
function keysOf(commandName: string, input: object, table: string): AttributeValue[] {
  const name = ledgerTable.partitionKey;
  const keyIn = (of: unknown): AttributeValue[] => {
    const key: AttributeValue | undefined = Object(of)[name];
    return key === undefined ? [] : [key];
  };
  switch (commandName) {
    case 'PutItemCommand':
      return keyIn('Item' in input ? input.Item : undefined);
    case 'UpdateItemCommand':
      return keyIn('Key' in input ? input.Key : undefined);
    case 'BatchWriteItemCommand': {
      const requests: readonly { PutRequest?: { Item?: unknown } }[] =
        Object('RequestItems' in input ? input.RequestItems : undefined)[table] ?? [];
      return requests.flatMap(({ PutRequest }) => keyIn(PutRequest?.Item));
    }
    default:
      return [];
  }
}
