import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { embeddedDynamoDb } from '../../local/aws/dynamodb.ts';
import { close, listenOnLoopback } from '../../local/aws/loopback-server.ts';

/** An embedded DynamoDB with tables as docs/subscribing.md describes them. */
export async function startHandledTables() {
  const server = embeddedDynamoDb();
  const endpoint = await listenOnLoopback(server);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
  return {
    client,
    endpoint,
    async create(): Promise<string> {
      const TableName = `handled-${randomUUID()}`;
      const table = new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      });
      await client.send(table);
      await waitUntilTableExists({ client, maxWaitTime: 5, minDelay: 0.01 }, { TableName });
      return TableName;
    },
    async close(): Promise<void> {
      client.destroy();
      await close(server);
    },
  };
}
