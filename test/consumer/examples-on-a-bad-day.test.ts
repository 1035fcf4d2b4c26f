import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { event } from './events.ts';
import { Program } from './example.ts';
import { certificateUrl, Signer, topicArn } from './signed-messages.ts';
import { SnsHost } from './sns-host.ts';

// The examples as processes, beside an AWS that refuses what it is told to refuse.
let aws: Server;
let environment: Record<string, string>;
/** Operations, in the order in which they were asked for. */
let asked: string[];
/** By operation: how often it is refused before it is carried out. */
let refusals: Record<string, number>;
let body: string | undefined;

const answers: Record<string, () => object> = {
  ReceiveMessage: () => ({
    Messages:
      body === undefined
        ? []
        : [
            {
              MessageId: 'm',
              ReceiptHandle: 'r',
              Body: body,
              MD5OfBody: createHash('md5').update(body).digest('hex'),
            },
          ],
  }),
  DeleteMessage: () => {
    body = undefined;
    return {};
  },
};

beforeEach(async () => {
  asked = [];
  refusals = {};
  body = JSON.stringify(event());
  aws = createServer(async (request, response) => {
    await text(request);
    const [, operation = ''] = String(request.headers['x-amz-target']).split('.');
    asked.push(operation);
    // As a long poll is answered when there is nothing.
    if (operation === 'ReceiveMessage' && body === undefined) await setTimeout(100);
    const left = refusals[operation] ?? 0;
    refusals[operation] = left - 1;
    response.writeHead(left > 0 ? 403 : 200, { 'content-type': 'application/x-amz-json-1.0' });
    const answer = left > 0 ? { __type: 'AccessDeniedException' } : (answers[operation]?.() ?? {});
    response.end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(aws, 'listening');
  const endpoint = `http://127.0.0.1:${Object(aws.address()).port}`;
  environment = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    QUEUE_URL: `${endpoint}/111122223333/certifications`,
    TABLE_NAME: 'handled',
  };
});
afterEach(() => {
  aws.closeAllConnections();
  aws.close();
});

describe('the worker', () => {
  it('goes on after SQS has refused to give and to delete a message', async () => {
    refusals = { ReceiveMessage: 1, DeleteMessage: 1 };
    const worker = await Program.start('sqs-worker', environment);
    try {
      await worker.line(/^not received: \w+$/);
      await worker.line(/^certification\.created {2}/);
      await worker.line(/^not done with: \w+$/);
      await vi.waitUntil(() => body === undefined, 10_000);
      expect(worker.lines.join()).not.toMatch(/Odalys|\(ended/);
      expect(asked.filter((operation) => operation === 'DeleteMessage')).toHaveLength(2);
    } finally {
      await worker.end();
    }
  }, 30_000);
});

describe('the receiver', () => {
  it('remembers in a table, where it is given one', async () => {
    const [sns, host] = [await Signer.create(), new SnsHost()];
    await host.open();
    const { pathname } = new URL(certificateUrl);
    host.answers.set(pathname, sns.certificate);
    const receiver = await Program.start('https-webhook', {
      ...environment,
      ...host.environment,
      NO_PROXY: '127.0.0.1',
      no_proxy: '127.0.0.1',
      TOPIC_ARN: topicArn,
      PORT: '0',
    });
    try {
      const port = (await receiver.line(/^Listening on port/)).split(' ').at(-1);
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        body: JSON.stringify(sns.notification(JSON.stringify(event()))),
      });
      expect(response.status).toBe(200);
      // The claim, and that it was handled.
      expect(asked).toEqual(['UpdateItem', 'UpdateItem']);
    } finally {
      await receiver.end();
      await host.close();
    }
  }, 30_000);
});
