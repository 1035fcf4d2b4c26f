import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ListQueueTagsCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../lambda/clock.ts';
import { type Subscribed, sweep, TemporaryQueue } from '../../ops/watching/temporary-queue.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { Messaging } from './messaging.ts';

const aws = new Messaging();
let topic: string;
let another: string;

beforeAll(() => aws.open());
afterAll(() => aws.close());
beforeEach(async () => {
  await aws.begin();
  topic = aws.topicArn;
  another = await aws.topic('staging-events');
});

const watching = (topicArn: string, how: Partial<Subscribed> = {}, clock: Clock = systemClock) =>
  TemporaryQueue.create(
    aws.access(),
    { owner: 'watch', topicArn, integration: undefined, isRaw: false, ...how },
    clock,
  );
const swept = (topicArn: string, access = aws.access()) =>
  sweep(access, { owner: 'watch', topicArn }, systemClock);

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

const ofA = '{"integration":["a"],"type":["certification.created"]}';
it.each<[Partial<Subscribed>, object]>([
  [{ isRaw: true }, { raw: 'true', filter: undefined }],
  [
    { isRaw: true, integration: 'a' },
    { raw: 'true', filter: '{"integration":["a"]}' },
  ],
  [
    { integration: 'a', types: ['certification.created'] },
    { raw: 'false', filter: ofA },
  ],
])('a queue for %j is subscribed with %j', async (how, subscribed) => {
  await using one = await watching(topic, how);
  expect(await aws.attributes(one.subscriptionArn)).toEqual(subscribed);
});

it('a queue in use postpones its expiry', async () => {
  const clock = new ManualClock('2026-11-21T08:00:00Z');
  await using queue = await watching(topic, {}, clock);
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
  await expect(swept(topic, ended.access())).rejects.toMatchObject({
    ...{ reason: 'ECONNREFUSED', whatToDo: expect.stringMatching(/start npm start again/) },
  });
});

it('a queue or a subscription left behind by a crash is removed, and no other one', async () => {
  const sizes = async () => {
    const all = [aws.queues(), aws.subscriptions(topic), aws.subscriptions(another)];
    return (await Promise.all(all)).map(({ length }) => length);
  };
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  await using _ = await watching(topic);
  await watching(topic, { owner: 'listen' }, clock);
  await watching(another, {}, clock);
  const byHand = 'certification-notifier-watch-by-hand';
  await aws.sqs.send(new CreateQueueCommand({ QueueName: byHand }));
  for (const queue of [byHand, 'a-subscriber-whose-queue-is-gone'])
    await aws.subscribe(topic, queue);
  await aws.subscribe(another, 'certification-notifier-watch-gone');
  const others = [4, 4, 2];
  expect(await sizes()).toEqual(others);
  await watching(topic, {}, clock);
  await aws.subscribe(topic, 'certification-notifier-watch-gone');
  expect(await swept(topic)).toBe(2);
  expect(await sizes()).toEqual(others);
  expect(await swept(topic)).toBe(0);
});
