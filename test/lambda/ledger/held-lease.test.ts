import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { underLease } from '../../../lambda/ledger/held-lease.ts';
import { Table } from '../../../lambda/ledger/table.ts';
import { ManualClock } from '../../scaffold/clock.ts';

/**
 * Puts an item into a table that answers with these, in turn; the machine sleeps before it hears
 * them. @returns the requests, and whether the lease was lost
 */
async function put(answers: readonly (object | 500)[], seconds: readonly number[] = []) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const handle = async ({ headers }: { headers: Record<string, string> }) => {
    asked.push(headers['x-amz-target']?.replace('DynamoDB_20120810.', '') ?? '');
    clock.advance({ seconds: seconds[asked.length - 1] ?? 0 });
    const answer = answers[asked.length - 1] ?? {};
    const body = Buffer.from(JSON.stringify(answer));
    return { response: { statusCode: answer === 500 ? 500 : 200, headers: {}, body } };
  };
  const client = new DynamoDBClient({
    ...{ region: 'eu-central-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } },
    requestHandler: { handle },
  });
  const lease = { owner: 'ours', until: clock.now().add({ seconds: 60 }) };
  const table = new Table(client, 'ledger', clock);
  const ours = underLease(table, 'district-a', lease);
  const end = await table.putAll([{ pk: 'a' }], ours).catch(({ code }: { code?: string }) => code);
  return { asked: asked.map((one) => one.replace('Item', '')).join(), end };
}

const held = { Item: marshall({ lease_owner: 'ours' }) };
const lost = { Item: marshall({ lease_owner: 'other' }) };

it.each([
  ['while the lease is ours', [held], [], 'Get,BatchWrite', undefined],
  ["not under another's lease", [lost], [], 'Get', 'lease-lost'],
  ['not if the SDK repeats it then', [held, 500, lost], [], 'Get,BatchWrite,Get', 'lease-lost'],
  ['after another look, if the machine slept', [held, held], [5], 'Get,Get,BatchWrite', undefined],
  ['not if it slept beyond the end', [held], [60], 'Get', 'lease-lost'],
] as const)('a write without a condition goes out %s', async (_, answers, slept, asked, end) => {
  expect(await put(answers, slept)).toEqual({ asked, end });
});
