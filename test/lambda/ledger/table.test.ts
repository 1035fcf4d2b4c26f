import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type BatchWriteItemCommandInput,
  DynamoDBClient,
  DynamoDBServiceException,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, expect, it } from 'vitest';
import { Table } from '../../../lambda/ledger/table.ts';
import { ManualClock } from '../../scaffold/clock.ts';

// DynamoDB hands back items without capacity for them. The embedded one always has capacity.
const client = new DynamoDBClient({ region: 'eu-central-1' });
const fault = mockClient(client);
afterEach(() => fault.reset());

const clock = new ManualClock();
const table = new Table(client, 'ledger', clock);

const update = () => table.update('a', { set: { b: 1 } });
// An index may be under construction, or missing.
const look = () => table.count({ name: 'i', partitionKey: 'k', sortKey: 's' }, 'a');
const get = () => table.get('a');
const put = () => table.putAll([{ pk: 'a' }]);
const denied = {
  ...{ code: 'access-denied', fault: 'aws', retryHelps: false },
  message: 'AWS denies dynamodb:GetItem on the table ledger (AccessDeniedException, request 0b3a).',
  whatToDo: expect.stringContaining('dynamodb:GetItem on the table ledger'),
};
const throttled = {
  ...{ code: 'ledger-unavailable', fault: 'aws', retryHelps: true },
  message: 'The ledger did not carry out BatchWriteItem (ProvisionedThroughputExceededException).',
};

it.each([
  ["is the item's fault if it writes", 'ValidationException', update, { code: 'ledger-refused' }],
  ["is no item's fault if it reads", 'ValidationException', look, { code: 'ledger-unavailable' }],
  ['for want of rights names the action to grant', 'AccessDeniedException', get, denied],
  ['by throttling may be retried', 'ProvisionedThroughputExceededException', put, throttled],
])('a request that DynamoDB refuses %s (%s)', async (_, name, ask, expected) => {
  const $metadata = { requestId: '0b3a' };
  fault.onAnyCommand().rejects(new DynamoDBServiceException({ name, $fault: 'client', $metadata }));
  await expect(ask()).rejects.toMatchObject(expected);
});

it('a table without capacity gets items again that it has handed back, until it has accepted all', async () => {
  const written: unknown[] = [];
  let calls = 0;
  fault.on(BatchWriteItemCommand).callsFake(({ RequestItems }: BatchWriteItemCommandInput) => {
    calls += 1;
    const requests = RequestItems?.ledger ?? [];
    const taken = calls < 3 ? requests.slice(0, 10) : requests;
    written.push(...taken);
    const rest = requests.slice(taken.length);
    return { UnprocessedItems: rest.length > 0 ? { ledger: rest } : {} };
  });
  const before = clock.now();
  await table.putAll(Array.from({ length: 25 }, (_, index) => ({ pk: String(index) })));
  expect(calls).toBe(3);
  expect(new Set(written).size).toBe(25);
  expect(clock.now().since(before).total('milliseconds')).toBe(150);
});

it('a table without capacity is asked again for unanswered keys', async () => {
  const answer = (pk: string) => ({ Responses: { ledger: [marshall({ pk })] } });
  const unanswered = { ledger: { Keys: [marshall({ pk: 'b' })] } };
  fault
    .on(BatchGetItemCommand)
    .resolvesOnce({ ...answer('a'), UnprocessedKeys: unanswered })
    .resolves(answer('b'));
  expect(await table.getAll(['a', 'b'])).toEqual([{ pk: 'a' }, { pk: 'b' }]);
});
