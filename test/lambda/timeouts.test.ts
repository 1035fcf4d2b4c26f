import { once } from 'node:events';
import { createServer } from 'node:http';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { awsTimeouts } from '../../lambda/timeouts.ts';

it('a client gives up on a service that takes the request and never answers', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const client = new DynamoDBClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    endpoint: `http://127.0.0.1:${address.port}`,
    maxAttempts: 1,
    requestHandler: { ...awsTimeouts.requestHandler, requestTimeout: 50 },
  });
  try {
    await expect(client.send(new ListTablesCommand())).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  } finally {
    client.destroy();
    silent.closeAllConnections();
    silent.close();
  }
});
