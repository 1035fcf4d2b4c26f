import { PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ledgerTable } from '../../../lambda/names.ts';
import { startLedgerTable } from '../../scaffold/ledger-table.ts';

let table: Awaited<ReturnType<typeof startLedgerTable>>;
beforeAll(async () => {
  table = await startLedgerTable();
});
afterAll(() => table.close());

it("an index separates items of different keys, also if the keys' short hashes are the same", async () => {
  const { partitionKey, undelivered } = ledgerTable;
  const keys = ['CERT#district-31#168', 'CERT#district-31#213'];
  for (const key of keys)
    await table.client.send(
      new PutItemCommand({
        TableName: table.name,
        Item: {
          [partitionKey]: { S: key },
          [undelivered.partitionKey]: { S: 'district-31' },
          [undelivered.sortKey]: { S: '2026-11-21T08:00:00Z' },
        },
      }),
    );
  const { Items = [] } = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      IndexName: undelivered.name,
      KeyConditionExpression: '#key = :key',
      ExpressionAttributeNames: { '#key': undelivered.partitionKey },
      ExpressionAttributeValues: { ':key': { S: 'district-31' } },
    }),
  );
  expect(Items.map((item) => item[partitionKey]?.S).sort()).toEqual(keys);
});
