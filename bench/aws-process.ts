import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { buildApp } from 'fauxqs';
import { startLedgerTable } from '../test/scaffold/ledger-table.ts';
import { endWithParent, report } from './child.ts';
import { seenTables } from './usual-pollers.ts';

/** Embedded DynamoDB, SNS and SQS in a process of their own. */
const { client, name } = await startLedgerTable();
for (const TableName of Object.values(seenTables))
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    }),
  );
const endpoint = await client.config.endpoint?.();
if (endpoint === undefined) throw new Error('the embedded DynamoDB has no endpoint');
const messaging = await buildApp({ logger: false, defaultRegion: 'us-east-1' }).listen({
  port: 0,
  host: '127.0.0.1',
});
endWithParent();
report({ dynamodb: `http://${endpoint.hostname}:${endpoint.port}`, messaging, table: name });
