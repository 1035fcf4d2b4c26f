import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ListQueueTagsCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../lambda/clock.ts';
import type { Access } from '../../ops/target/access.ts';
import { type Owner, sweep, TemporaryQueue } from '../../ops/watching/temporary-queue.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { Messaging } from './messaging.ts';

const aws = new Messaging();
let access: Access;
let topic: string;
let another: string;

beforeAll(async () => {
  await aws.open();
  access = aws.access();
});
afterAll(() => aws.close());
beforeEach(async () => {
  await aws.begin();
  topic = aws.topicArn;
  another = await aws.topic('staging-events');
});

const longAgo = () => new ManualClock('2026-01-01T00:00:00Z');

const watching = (topicArn: string, integration?: string, clock: Clock = systemClock) =>
  TemporaryQueue.create(access, { owner: 'watch', topicArn, integration, isRaw: true }, clock);

const swept = (topicArn: string, owner: Owner = 'watch') =>
  sweep(access, { owner, topicArn }, systemClock);

it('a queue is encrypted, and accepts messages of its topic only', async () => {
  // AWS has changed the default attributes of queues before.
  let asked = '';
  aws.sqsGate.once('CreateQueue', ({ body, forward }) => {
    asked = body;
    return forward();
  });
  await using _ = await watching(topic);
  const [QueueUrl = ''] = await aws.queues();
  const get = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
  const { Attributes = {} } = await aws.sqs.send(get);
  expect(JSON.parse(asked)).toMatchObject({ Attributes: { SqsManagedSseEnabled: 'true' } });
  const allowed = { Effect: 'Allow', Principal: { Service: 'sns.amazonaws.com' } };
  const ofTopic = { Condition: { ArnEquals: { 'aws:SourceArn': topic } } };
  const sending = { Action: 'sqs:SendMessage', Resource: Attributes.QueueArn };
  const Statement = [{ ...allowed, ...sending, ...ofTopic }];
  expect(JSON.parse(Attributes.Policy ?? '')).toEqual({ Version: '2012-10-17', Statement });
});

it('a queue gets the events of one integration or of all, or some types, raw or in an envelope', async () => {
  await using one = await watching(topic, 'district-a');
  expect(await aws.attributes(one.subscriptionArn)).toEqual({
    raw: 'true',
    filter: '{"integration":["district-a"]}',
  });
  await using all = await watching(another);
  expect(await aws.attributes(all.subscriptionArn)).toEqual({ raw: 'true', filter: undefined });
  const types = ['certification.created'];
  const some = { owner: 'listen', topicArn: topic, integration: 'a', types, isRaw: false } as const;
  await using listening = await TemporaryQueue.create(access, some, systemClock);
  const filter = '{"integration":["a"],"type":["certification.created"]}';
  expect(await aws.attributes(listening.subscriptionArn)).toEqual({ raw: 'false', filter });
});

it('a queue in use postpones its expiry', async () => {
  const clock = new ManualClock('2026-11-21T08:00:00Z');
  await using queue = await watching(topic, undefined, clock);
  const [QueueUrl = ''] = await aws.queues();
  const expires = async () => {
    await queue.keep();
    const { Tags } = await aws.sqs.send(new ListQueueTagsCommand({ QueueUrl }));
    return Tags?.['certification-notifier:watch-expires'];
  };
  expect(await expires()).toBe('2026-11-21T08:20:00Z');
  clock.advance({ minutes: 9 });
  expect(await expires()).toBe('2026-11-21T08:20:00Z');
  clock.advance({ minutes: 1 });
  expect(await expires()).toBe('2026-11-21T08:30:00Z');
});

it('a queue of an instance that has ended advises to start it again', async () => {
  const ended = new Messaging();
  await ended.open();
  await ended.close();
  const watched = { owner: 'watch', topicArn: topic } as const;
  await expect(sweep(ended.access(), watched, systemClock)).rejects.toMatchObject({
    ...{ reason: 'ECONNREFUSED', whatToDo: expect.stringMatching(/start npm start again/) },
  });
});

describe('a queue left behind by a crash', () => {
  const sizes = async () => {
    const all = [aws.queues(), aws.subscriptions(topic), aws.subscriptions(another)];
    return (await Promise.all(all)).map(({ length }) => length);
  };

  it('is removed with its subscription', async () => {
    await watching(topic, undefined, longAgo());
    expect(await swept(topic)).toBe(1);
    expect(await sizes()).toEqual([0, 0, 0]);
    expect(await swept(topic)).toBe(0);
  });

  it('is left alone if it belongs to another topic, or to another command', async () => {
    await watching(another, undefined, longAgo());
    expect(await swept(topic)).toBe(0);
    expect(await swept(another, 'listen')).toBe(0);
    expect(await sizes()).toEqual([1, 0, 1]);
  });

  it('may be a subscription without a queue', async () => {
    await aws.subscribe(topic, 'certification-notifier-watch-gone');
    await aws.subscribe(another, 'certification-notifier-watch-gone');
    expect(await swept(topic)).toBe(1);
    expect(await sizes()).toEqual([0, 0, 1]);
  });

  it('is none that is in use, or of another kind', async () => {
    await using _ = await watching(topic);
    const byHand = 'certification-notifier-watch-by-hand';
    await aws.sqs.send(new CreateQueueCommand({ QueueName: byHand }));
    for (const queue of [byHand, 'a-subscriber-whose-queue-is-gone'])
      await aws.subscribe(topic, queue);
    expect(await swept(topic)).toBe(0);
    expect(await sizes()).toEqual([2, 3, 0]);
  });
});
