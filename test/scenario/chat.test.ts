import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Deployment } from '../scaffold/deployment.ts';

/**
 * Digests and notices on the topics for chats, with the real functions and the SNS of this machine.
 * A queue subscribes in place of Amazon Q, which exists only at AWS.
 */

const chat = { protocol: 'slack', workspace: 'T0123WXYZ', channel: 'C0123WXYZ' } as const;
const shown = z.looseObject({
  source: z.literal('custom'),
  content: z.looseObject({ title: z.string(), description: z.string() }),
});

describe('a deployment with chats', () => {
  const stage = new Deployment();
  const subscriptions = [
    { topic: 'alerts', ...chat },
    { topic: 'operations', ...chat },
  ] as const;
  beforeAll(() => stage.build({ subscriptions, integration: { holdAbove: 2 } }));
  afterAll(() => stage.dismantle());
  beforeEach(() => stage.raise());
  const clients: { destroy(): void }[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await stage.strike();
  });

  const listening = async (variable: string) => {
    const { aws } = stage;
    const [poll] = [...aws.functions.values()].filter(({ name }) => name.includes('Poll'));
    const sqs = new SQSClient(aws.clientConfig('sqs'));
    const sns = new SNSClient(aws.clientConfig('sns'));
    clients.push(sqs, sns);
    const QueueName = variable.toLowerCase();
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName }));
    await sns.send(
      new SubscribeCommand({
        TopicArn: poll?.environment[variable],
        Protocol: 'sqs',
        Endpoint: `arn:aws:sqs:${aws.region}:${aws.accountId}:${QueueName}`,
        Attributes: { RawMessageDelivery: 'true' },
      }),
    );
    return async () => {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
      );
      return Messages.map(({ Body = '' }) => shown.parse(JSON.parse(Body)).content);
    };
  };

  it('sends chats its digests, and notices with the next step', async () => {
    const alerts = await listening('CHAT_ALERTS_TOPIC_ARN');
    const operations = await listening('CHAT_OPERATIONS_TOPIC_ARN');
    await stage.completedTick();
    stage.sandbox.world.add();
    await stage.completedTick();
    expect(await stage.mails()).toHaveLength(1);
    const [digest, ...more] = await alerts();
    expect(more).toEqual([]);
    expect(digest?.title).toMatch(/: 1 new certification/);
    expect(digest?.description).toMatch(/^\*1 new certification\*\n/);
    for (let n = 0; n < 3; n++) stage.sandbox.world.add();
    expect(await stage.completedTick()).toMatchObject({ held: 3 });
    const mailed = (await stage.notices()).map(({ subject }) => subject);
    const titles = (await operations()).map(({ title }) => title);
    expect(titles).toEqual(
      mailed.map((subject) =>
        subject.endsWith('completed') ? `ℹ️ ${subject}` : `⚠️ Trouble: ${subject}`,
      ),
    );
    expect(titles).toContain('⚠️ Trouble: district-a: a flood of changes is held');
  });
});
