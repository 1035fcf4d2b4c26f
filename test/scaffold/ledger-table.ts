import {
  CreateTableCommand,
  DynamoDBClient,
  type Projection,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { ledgerTable } from '../../lambda/names.ts';
import { embeddedDynamoDb } from '../../local/aws/dynamodb.ts';
import { close, listenOnLoopback } from '../../local/aws/loopback-server.ts';

/** An embedded DynamoDB that keeps no process alive. */
export async function startDynamoDb() {
  const server = embeddedDynamoDb();
  const endpoint = await listenOnLoopback(server);
  server.unref();
  const client = new DynamoDBClient({
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  return {
    client,
    async close() {
      client.destroy();
      await close(server);
    },
  };
}

/** An empty table with the keys and indexes of the stack's table. */
export async function createLedgerTable(client: DynamoDBClient, name: string): Promise<void> {
  const { partitionKey, byDay, undelivered, byEvent } = ledgerTable;
  const projected = (index: { readonly projected: readonly string[] }): Projection => ({
    ProjectionType: 'INCLUDE',
    NonKeyAttributes: [...index.projected],
  });
  const indexes = [
    { ...byDay, sortType: 'N', Projection: projected(byDay) },
    { ...undelivered, sortType: 'S', Projection: { ProjectionType: 'KEYS_ONLY' } },
    { ...byEvent, sortType: 'S', Projection: projected(byEvent) },
  ] as const;
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: partitionKey, KeyType: 'HASH' }],
      AttributeDefinitions: [
        { AttributeName: partitionKey, AttributeType: 'S' },
        ...indexes.flatMap((index) => [
          { AttributeName: index.partitionKey, AttributeType: 'S' } as const,
          { AttributeName: index.sortKey, AttributeType: index.sortType },
        ]),
      ],
      GlobalSecondaryIndexes: indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: [
          { AttributeName: index.partitionKey, KeyType: 'HASH' },
          { AttributeName: index.sortKey, KeyType: 'RANGE' },
        ],
        Projection: index.Projection,
      })),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 5, minDelay: 0.01 }, { TableName: name });
}

/** A separate embedded DynamoDB with one empty ledger table. */
export async function startLedgerTable() {
  const { client, close } = await startDynamoDb();
  const name = 'ledger';
  await createLedgerTable(client, name);
  return { client, name, close };
}
