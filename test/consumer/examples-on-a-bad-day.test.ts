import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { event } from './events.ts';
import { Program } from './example.ts';
import { RefusingAws } from './refusing-aws.ts';
import { certificateUrl, Signer, topicArn } from './signed-messages.ts';
import { SnsHost } from './sns-host.ts';

// The examples as processes, beside an AWS that refuses the chosen operations.
let aws: RefusingAws;
let environment: Record<string, string>;

beforeEach(async () => {
  aws = new RefusingAws();
  environment = await aws.open();
});
afterEach(() => aws.close());

describe('the worker', () => {
  it('continues after SQS has refused to give and to delete a message', async () => {
    aws.refusals = { ReceiveMessage: 1, DeleteMessage: 1 };
    const worker = await Program.start('sqs-worker', environment);
    try {
      await worker.line(/^not received: \w+$/);
      await worker.line(/^certification\.created {2}/);
      await worker.line(/^not done with: \w+$/);
      await vi.waitUntil(() => aws.body === undefined, 10_000);
      expect(worker.lines.join()).not.toMatch(/Odalys|\(ended/);
      expect(aws.asked.filter((operation) => operation === 'DeleteMessage')).toHaveLength(2);
    } finally {
      await worker.end();
    }
  }, 30_000);
});

describe('the receiver', () => {
  it('remembers in a table, if it has one', async () => {
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
      // The claim, and the record that the event was handled.
      expect(aws.asked).toEqual(['UpdateItem', 'UpdateItem']);
    } finally {
      await receiver.end();
      await host.close();
    }
  }, 30_000);
});
