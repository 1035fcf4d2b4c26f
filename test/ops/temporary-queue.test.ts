import {
  CreateTopicCommand,
  GetSubscriptionAttributesCommand,
  ListSubscriptionsByTopicCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../lambda/clock.ts';
import { Gate } from '../../local/aws/gate.ts';
import { type Access, Clients } from '../../ops/target/access.ts';
import { type Owner, sweep, TemporaryQueue } from '../../ops/watching/temporary-queue.ts';
import { ManualClock } from '../scaffold/clock.ts';

let server: FauxqsServer;
const gate = new Gate();
let access: Access;
let sqs: SQSClient;
let sns: SNSClient;
let topic: string;
let another: string;

beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false });
  gate.target = server.address;
  const config = {
    endpoint: await gate.open(),
    region: 'us-east-1',
    credentials: { accessKeyId: 'duty', secretAccessKey: 'duty' },
  };
  access = { isLocal: false, clients: new Clients(), settings: () => config };
  sqs = new SQSClient(config);
  sns = new SNSClient(config);
});
afterAll(async () => {
  await gate.close();
  await server.stop();
});
beforeEach(async () => {
  server.purgeAll();
  topic = await created('prod-events');
  another = await created('staging-events');
});

const longAgo = () => new ManualClock('2026-01-01T00:00:00Z');

async function created(Name: string): Promise<string> {
  return (await sns.send(new CreateTopicCommand({ Name }))).TopicArn ?? '';
}

const watching = (topicArn: string, integration?: string, clock: Clock = systemClock) =>
  TemporaryQueue.create(access, { owner: 'watch', topicArn, integration, isRaw: true }, clock);

const swept = (topicArn: string, owner: Owner = 'watch') =>
  sweep(access, { owner, topicArn }, systemClock);

async function queues(): Promise<string[]> {
  return (await sqs.send(new ListQueuesCommand({}))).QueueUrls ?? [];
}

async function subscriptions(TopicArn: string) {
  const list = new ListSubscriptionsByTopicCommand({ TopicArn });
  return (await sns.send(list)).Subscriptions ?? [];
}

async function subscribed(TopicArn: string, queue: string): Promise<string> {
  const Endpoint = `arn:aws:sqs:us-east-1:000000000000:${queue}`;
  await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint }));
  return Endpoint;
}

const endpoints = async (topicArn: string) =>
  (await subscriptions(topicArn)).map(({ Endpoint }) => Endpoint);

describe('the queue of `watch`', () => {
  it('is encrypted, and accepts messages of its topic only', async () => {
    // AWS has changed the default attributes of queues before.
    let asked = '';
    gate.once('CreateQueue', ({ body, forward }) => {
      asked = body;
      return forward();
    });
    await using _ = await watching(topic);
    const [QueueUrl = ''] = await queues();
    const get = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
    const { Attributes = {} } = await sqs.send(get);
    expect(JSON.parse(asked)).toMatchObject({ Attributes: { SqsManagedSseEnabled: 'true' } });
    expect(JSON.parse(Attributes.Policy ?? '')).toEqual({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { Service: 'sns.amazonaws.com' },
          Action: 'sqs:SendMessage',
          Resource: Attributes.QueueArn,
          Condition: { ArnEquals: { 'aws:SourceArn': topic } },
        },
      ],
    });
  });

  it.each([
    ['of one integration', 'district-a', '{"integration":["district-a"]}'],
    ['of all', undefined, undefined],
  ])('gets events %s, as they were published', async (_whose, integration, filter) => {
    await using _ = await watching(topic, integration);
    const [subscription] = await subscriptions(topic);
    const { SubscriptionArn } = subscription ?? {};
    const get = new GetSubscriptionAttributesCommand({ SubscriptionArn });
    const { Attributes = {} } = await sns.send(get);
    expect(Attributes.FilterPolicy).toBe(filter);
    expect(Attributes.RawMessageDelivery).toBe('true');
  });
});

describe('the queue of `listen`', () => {
  it("gets events of these types and this integration, in SNS's envelope", async () => {
    const subscribed = { owner: 'listen', topicArn: topic, integration: 'district-a' } as const;
    const types = ['certification.created'];
    await using queue = await TemporaryQueue.create(
      access,
      { ...subscribed, types, isRaw: false },
      systemClock,
    );
    const get = new GetSubscriptionAttributesCommand({ SubscriptionArn: queue.subscriptionArn });
    const { Attributes = {} } = await sns.send(get);
    expect(JSON.parse(Attributes.FilterPolicy ?? '')).toEqual({
      integration: ['district-a'],
      type: types,
    });
    expect(Attributes.RawMessageDelivery).toBe('false');
  });
});

it('of an instance that has ended advises to start it again', async () => {
  const ended = await startFauxqs({ port: 0, logger: false });
  await ended.stop();
  const settings = () => ({ ...access.settings('sqs'), endpoint: ended.address });
  const subscribed = { owner: 'watch', topicArn: topic, integration: undefined } as const;
  const error = {
    reason: 'ECONNREFUSED',
    whatToDo: expect.stringMatching(/start npm start again/),
  };
  await expect(sweep({ ...access, settings }, subscribed, systemClock)).rejects.toMatchObject(
    error,
  );
});

describe('a queue left behind by a crash', () => {
  it('is removed with its subscription', async () => {
    await watching(topic, undefined, longAgo());
    expect(await swept(topic)).toBe(1);
    expect(await queues()).toEqual([]);
    expect(await subscriptions(topic)).toEqual([]);
    expect(await swept(topic)).toBe(0);
  });

  it('is left alone if it belongs to another topic', async () => {
    await watching(another, undefined, longAgo());
    expect(await swept(topic)).toBe(0);
    expect(await queues()).toHaveLength(1);
    expect(await subscriptions(another)).toHaveLength(1);
    expect(await swept(another)).toBe(1);
    expect(await queues()).toEqual([]);
    expect(await subscriptions(another)).toEqual([]);
  });

  it('is left alone if it belongs to another command', async () => {
    await watching(topic, undefined, longAgo());
    expect(await swept(topic, 'listen')).toBe(0);
    expect(await queues()).toHaveLength(1);
    expect(await subscriptions(topic)).toHaveLength(1);
  });

  it('may be a subscription without a queue', async () => {
    await subscribed(topic, 'certification-notifier-watch-gone');
    const elsewhere = await subscribed(another, 'certification-notifier-watch-gone');
    expect(await swept(topic)).toBe(1);
    expect(await endpoints(topic)).toEqual([]);
    expect(await endpoints(another)).toEqual([elsewhere]);
  });

  it('is none that is in use, or of another kind', async () => {
    await using _ = await watching(topic);
    await sqs.send(new CreateQueueCommand({ QueueName: 'certification-notifier-watch-by-hand' }));
    const others = [
      await subscribed(topic, 'certification-notifier-watch-by-hand'),
      await subscribed(topic, 'a-subscriber-whose-queue-is-gone'),
    ];
    expect(await swept(topic)).toBe(0);
    expect(await queues()).toHaveLength(2);
    expect(await endpoints(topic)).toHaveLength(3);
    expect(await endpoints(topic)).toEqual(expect.arrayContaining(others));
  });
});
