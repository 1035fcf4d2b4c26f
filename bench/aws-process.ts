import { buildApp } from 'fauxqs';
import { startLedgerTable } from '../test/scaffold/ledger-table.ts';
import { endWithParent, report } from './child.ts';

/** Embedded DynamoDB, SNS and SQS in a process of their own. */
const { client, name } = await startLedgerTable();
const endpoint = await client.config.endpoint?.();
if (endpoint === undefined) throw new Error('the embedded DynamoDB has no endpoint');
const messaging = await buildApp({ logger: false, defaultRegion: 'us-east-1' }).listen({
  port: 0,
  host: '127.0.0.1',
});
endWithParent();
report({ dynamodb: `http://${endpoint.hostname}:${endpoint.port}`, messaging, table: name });
