import {
  CreateTopicCommand,
  PublishBatchCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoStore } from '../../consumer/dynamodb.ts';
import {
  type Claim,
  type HandledStore,
  type Handling,
  inOrder,
  onlyOnce,
  parseEvent,
} from '../../consumer/index.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import { messageOf } from '../../lambda/events/sns-message.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { event } from './events.ts';
import { startHandledTables } from './handled-table.ts';

// Parallel workers at one queue behind the embedded SNS, which fail and die at random.
const messaging = buildApp({ logger: false, defaultRegion: 'us-east-1' });
let sns: SNSClient;
let sqs: SQSClient;
let endpoint: string;
let tables: Awaited<ReturnType<typeof startHandledTables>>;

beforeAll(async () => {
  endpoint = await messaging.listen({ port: 0, host: '127.0.0.1' });
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const config = { endpoint, region: 'us-east-1', credentials };
  [sns, sqs] = [new SNSClient(config), new SQSClient(config)];
  tables = await startHandledTables();
});
afterAll(async () => {
  for (const client of [sns, sqs]) client.destroy();
  await tables.close();
  await messaging.close();
});

/** Repeatable: mulberry32. */
function randomness(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Publishes each event one to three times, in any order. */
async function published(
  events: readonly CertificationEvent[],
  raw: boolean,
  random: () => number,
) {
  const name = `stream-${raw}-${events.length}`;
  const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: name }));
  await sqs.send(new CreateQueueCommand({ QueueName: name }));
  await sns.send(
    new SubscribeCommand({
      TopicArn,
      Protocol: 'sqs',
      Endpoint: `arn:aws:sqs:us-east-1:000000000000:${name}`,
      Attributes: { RawMessageDelivery: String(raw) },
    }),
  );
  const copies = events
    .flatMap((one) => Array.from({ length: 1 + Math.floor(random() * 3) }, () => one))
    .map((one) => ({ one, place: random() }))
    .sort((a, b) => a.place - b.place);
  for (let start = 0; start < copies.length; start += 10)
    await sns.send(
      new PublishBatchCommand({
        TopicArn,
        PublishBatchRequestEntries: copies
          .slice(start, start + 10)
          .map(({ one }, index) => ({ Id: String(index), Message: messageOf(one).body })),
      }),
    );
  return { queueUrl: `${endpoint}/000000000000/${name}`, copies: copies.length };
}

/** A store for workers that may die with a claim in hand, which is then not given up. */
function mortal(store: HandledStore, random: () => number): HandledStore {
  return {
    claim: (claim: Claim) => store.claim(claim),
    settle: async (claim, outcome) => {
      if (outcome === 'given-up' && random() < 0.3) throw new Error('died');
      return store.settle(claim, outcome);
    },
  };
}

/** Works until the queue is empty. Failed events return to the queue. */
async function work(
  queueUrl: string,
  handling: Handling<string>,
  handler: (event: { id: string }) => Promise<void>,
  clock: ManualClock,
): Promise<number> {
  let failures = 0;
  const each = async ({ Body, ReceiptHandle }: Message) => {
    try {
      await handling(parseEvent(Body), handler);
      await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
    } catch {
      failures += 1;
      await sqs.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: queueUrl,
          ReceiptHandle,
          VisibilityTimeout: 0,
        }),
      );
    }
  };
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
    );
    if (Messages.length === 0) return failures;
    clock.advance({ seconds: 5 });
    await Promise.all(Messages.map(each));
  }
}

const workers = 3;

describe.each([
  ['raw messages', true],
  ['messages in an envelope', false],
])('workers at a queue of %s', (_, raw) => {
  it('handle each event once, over any number of deliveries and failures', async () => {
    const random = randomness(7);
    const events = Array.from({ length: 150 }, (_, index) => event({ id: index + 1 }));
    const { queueUrl, copies } = await published(events, raw, random);
    const clock = new ManualClock();
    const options = { client: tables.client, consumer: 'queue' };
    const table = await tables.create();
    const done: string[] = [];
    const handler = async ({ id }: { id: string }) => {
      if (random() < 0.2) throw new Error('failed');
      done.push(id);
    };
    const failures = await Promise.all(
      Array.from({ length: workers }, () => {
        const store = mortal(dynamoStore({ ...options, table }), random);
        return work(queueUrl, onlyOnce(store, { clock, claimFor: { minutes: 1 } }), handler, clock);
      }),
    );
    expect(copies).toBeGreaterThan(250);
    expect(Math.min(...failures)).toBeGreaterThan(0);
    expect(done.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  });

  it('in order, end with the newest event of each assessment and never go back', async () => {
    const random = randomness(8);
    const events = Array.from({ length: 160 }, (_, index) =>
      event({ id: (index % 20) + 1, revision: Math.floor(index / 20) + 1 }),
    );
    const { queueUrl } = await published(events, raw, random);
    const clock = new ManualClock();
    const options = { client: tables.client, consumer: 'queue' };
    const table = await tables.create();
    const states = new Map<string, number[]>();
    const handler = async ({ id }: { id: string }) => {
      if (random() < 0.2) throw new Error('failed');
      const [, subject = '', revision] = id.split('/');
      states.set(subject, [...(states.get(subject) ?? []), Number(revision)]);
    };
    await Promise.all(
      Array.from({ length: workers }, () => {
        const store = mortal(dynamoStore({ ...options, table }), random);
        return work(queueUrl, inOrder(store, { clock, claimFor: { minutes: 1 } }), handler, clock);
      }),
    );
    expect(states.size).toBe(20);
    for (const revisions of states.values()) {
      expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
      expect(new Set(revisions).size).toBe(revisions.length);
      expect(revisions.at(-1)).toBe(8);
    }
  });
});
