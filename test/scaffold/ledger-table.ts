import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
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
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: partitionKey, KeyType: 'HASH' }],
      AttributeDefinitions: [
        { AttributeName: partitionKey, AttributeType: 'S' },
        { AttributeName: byDay.partitionKey, AttributeType: 'S' },
        { AttributeName: byDay.sortKey, AttributeType: 'N' },
        { AttributeName: undelivered.partitionKey, AttributeType: 'S' },
        { AttributeName: undelivered.sortKey, AttributeType: 'S' },
        { AttributeName: byEvent.partitionKey, AttributeType: 'S' },
        { AttributeName: byEvent.sortKey, AttributeType: 'S' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: byDay.name,
          KeySchema: [
            { AttributeName: byDay.partitionKey, KeyType: 'HASH' },
            { AttributeName: byDay.sortKey, KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [...byDay.projected] },
        },
        {
          IndexName: undelivered.name,
          KeySchema: [
            { AttributeName: undelivered.partitionKey, KeyType: 'HASH' },
            { AttributeName: undelivered.sortKey, KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
        {
          IndexName: byEvent.name,
          KeySchema: [
            { AttributeName: byEvent.partitionKey, KeyType: 'HASH' },
            { AttributeName: byEvent.sortKey, KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [...byEvent.projected] },
        },
      ],
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
