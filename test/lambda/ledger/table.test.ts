import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type BatchWriteItemCommandInput,
  DynamoDBClient,
  DynamoDBServiceException,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, it } from 'vitest';
import { Table } from '../../../lambda/ledger/table.ts';
import { ManualClock } from '../../scaffold/clock.ts';

// DynamoDB hands back items without capacity for them. The embedded one always has capacity.
const client = new DynamoDBClient({ region: 'eu-central-1' });
const fault = mockClient(client);
afterEach(() => fault.reset());

const clock = new ManualClock();
const table = new Table(client, 'ledger', clock);

describe('a request that DynamoDB does not accept', () => {
  const { update, look } = {
    update: () => table.update('a', { set: { b: 1 } }),
    look: () => table.count({ name: 'i', partitionKey: 'k' }, 'a'),
  };

  it.each([
    ["is the item's fault if it writes", update, 'ledger-refused'],
    // An index may be under construction, or missing.
    ["is no item's fault if it reads", look, 'ledger-unavailable'],
  ])('%s', async (_, ask, code) => {
    fault.onAnyCommand().rejects(
      new DynamoDBServiceException({
        ...{ name: 'ValidationException', $fault: 'client', $metadata: {} },
      }),
    );
    await expect(ask()).rejects.toMatchObject({ code });
  });
});

describe('a table that fails', () => {
  const failing = (name: string) =>
    fault.onAnyCommand().rejects(
      new DynamoDBServiceException({
        name,
        $fault: 'client',
        $metadata: { requestId: '0b3a1c52' },
      }),
    );

  it('with a denial says which action to grant, and that no retry helps', async () => {
    failing('AccessDeniedException');
    await expect(table.get('a')).rejects.toMatchObject({
      code: 'access-denied',
      fault: 'aws',
      retryHelps: false,
      message:
        'AWS denies dynamodb:GetItem on the table ledger (AccessDeniedException, request 0b3a1c52).',
      whatToDo: expect.stringContaining('dynamodb:GetItem on the table ledger'),
    });
  });

  it('with throttling says so, and that a retry helps', async () => {
    failing('ProvisionedThroughputExceededException');
    await expect(table.putAll([{ pk: 'a' }])).rejects.toMatchObject({
      code: 'ledger-unavailable',
      fault: 'aws',
      retryHelps: true,
      message:
        'The ledger did not carry out BatchWriteItem (ProvisionedThroughputExceededException).',
    });
  });
});

describe('a table without capacity', () => {
  it('gets items again that it has handed back, until it has accepted all', async () => {
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

  it('is asked again for unanswered keys', async () => {
    const item = (pk: string) => marshall({ pk });
    fault
      .on(BatchGetItemCommand)
      .resolvesOnce({
        Responses: { ledger: [item('a')] },
        UnprocessedKeys: { ledger: { Keys: [item('b')] } },
      })
      .resolves({ Responses: { ledger: [item('b')] } });
    expect(await table.getAll(['a', 'b'])).toEqual([{ pk: 'a' }, { pk: 'b' }]);
  });
});
