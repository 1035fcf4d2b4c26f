import {
  CreateTopicCommand,
  type PublishBatchRequestEntry,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryStore, onlyOnce, parseEvent, type ReceivedEvent } from '../../consumer/index.ts';
import { snsAnnouncer, type TopicArns } from '../../lambda/delivery/sns-announcer.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import type { Announcer } from '../../lambda/ports/announcer.ts';
import type { Ledger } from '../../lambda/ports/ledger.ts';
import { type Random, seededRandom } from '../../local/partner-sandbox/random.ts';
import { Integration } from '../scaffold/integration.ts';
import { ledgersInDynamoDb } from '../scaffold/ledgers.ts';
import { assessment } from '../support/assessments.ts';
import { isSoak } from '../support/soak.ts';

/** SNS is the subject. A ledger in memory takes a tenth of the time. */
const ledgersOf = isSoak ? ledgersInDynamoDb().of : undefined;

let server: FauxqsServer;
beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false });
});
afterAll(() => server.stop());

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const region = 'us-east-1';

/** Real SNS with lost, partial and refused answers. */
class BadDay {
  readonly client = new SNSClient({
    endpoint: server.address,
    region,
    credentials,
    maxAttempts: 1,
  });
  readonly #random: Random;
  isOut = false;
  isCalm = false;
  readonly seen = new Map<string, number>();

  constructor(random: Random) {
    this.#random = random;
    this.client.middlewareStack.add(
      (next) => async (call) => {
        const { input } = call;
        if (this.isOut) throw this.#fault('TimeoutError');
        if (!('PublishBatchRequestEntries' in input) || this.isCalm) return next(call);
        return this.#meet(
          () => next(call),
          async () => {
            const { kept, failed } = this.#inPart(input.PublishBatchRequestEntries ?? []);
            const partly = { ...call, input: { ...input, PublishBatchRequestEntries: kept } };
            const answer = await next(partly);
            return { ...answer, output: { ...answer.output, Failed: failed } };
          },
        );
      },
      { step: 'initialize' },
    );
  }

  async #meet<Answer>(send: () => Promise<Answer>, inPart: () => Promise<Answer>): Promise<Answer> {
    if (this.#random.chance(0.08)) throw this.#fault('ThrottledException');
    if (this.#random.chance(0.03)) {
      await send();
      throw this.#fault('lost answer');
    }
    return this.#random.chance(0.15) ? inPart() : send();
  }

  /** Some entries are accepted, and the others are in `Failed`, with HTTP 200. */
  #inPart(entries: readonly PublishBatchRequestEntry[]) {
    this.#note('refused in part');
    const kept = entries.filter((_, index) => index === 0 || this.#random.chance(0.5));
    const failed = entries
      .filter((entry) => !kept.includes(entry))
      .map(({ Id }) => ({
        Id,
        Code: this.#random.chance(0.5) ? 'InternalError' : 'Throttled',
        SenderFault: false,
      }));
    return { kept, failed };
  }

  #fault(name: string): Error {
    this.#note(name);
    return Object.assign(new Error(name), { name });
  }

  #note(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}

/** A consumer's queue, subscribed to the events by raw delivery. */
async function subscribe(sns: SNSClient, name: string, isFifo: boolean) {
  const suffix = isFifo ? '.fifo' : '';
  const Attributes: Record<string, string> = isFifo ? { FifoTopic: 'true' } : {};
  const topic = async (what: string, attributes: Record<string, string> = {}) => {
    const command = new CreateTopicCommand({ Name: `${name}-${what}`, Attributes: attributes });
    return (await sns.send(command)).TopicArn ?? '';
  };
  const topics: TopicArns = {
    events: await topic(`events${suffix}`, Attributes),
    alerts: await topic('alerts'),
    operations: await topic('operations'),
  };
  const sqs = new SQSClient({ endpoint: server.address, region, credentials });
  const { QueueUrl } = await sqs.send(
    new CreateQueueCommand({
      QueueName: `${name}${suffix}`,
      Attributes: isFifo ? { FifoQueue: 'true' } : {},
    }),
  );
  await sns.send(
    new SubscribeCommand({
      TopicArn: topics.events,
      Protocol: 'sqs',
      Endpoint: `arn:aws:sqs:${region}:000000000000:${name}${suffix}`,
      Attributes: { RawMessageDelivery: 'true' },
    }),
  );
  const received: ReceivedEvent[] = [];
  const receive = async () => {
    for (;;) {
      const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 });
      const { Messages = [] } = await sqs.send(command);
      if (Messages.length === 0) return;
      for (const { Body = '' } of Messages) received.push(parseEvent(Body));
      const Entries = Messages.map(({ ReceiptHandle = '' }, index) => ({
        Id: String(index),
        ReceiptHandle,
      }));
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    }
  };
  return { topics, received, receive };
}

class Killed extends Error {}

/** A tick that dies at one of its calls, before or after the effect. */
function mortal(story: Integration, announcer: Announcer, random: Random, calls: number) {
  let left = 1 + random.below(calls);
  const guarded = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        if (name === 'leftovers' || name === 'digest') return method.bind(target);
        return async (...values: unknown[]) => {
          left -= 1;
          const isBefore = random.chance(0.5);
          if (left < 0 || (left === 0 && isBefore)) throw new Killed();
          const answer: unknown = await method.apply(target, values);
          if (left <= 0) throw new Killed();
          return answer;
        };
      },
    });
  return { ledger: guarded<Ledger>(story.ledger), announcer: guarded(announcer) };
}

/** Adds some people, and edits three times as many of the known ones. */
function afterWave(wave: number, world: readonly Assessment[], people: number): Assessment[] {
  const known = world.slice(-((3 * people) / 2));
  const changed = new Map(
    known.map((one) => [one.id, { ...one, email: `wave-${wave}-${one.id}@example.org` }]),
  );
  return [
    ...world.map((one) => changed.get(one.id) ?? one),
    ...Array.from({ length: people }, (_, index) => assessment({ id: wave * people + index + 1 })),
  ];
}

/** 40 people a wave are a dozen batches: full ones, a rest, and enough for each fault. */
const people = isSoak ? 2_200 : 400;

describe.each([
  { topic: 'FIFO', isFifo: true, people },
  { topic: 'standard', isFifo: false, people },
])('events on a bad day, over a $topic topic', ({ isFifo, people }) => {
  it('arrive all the same, in order by subject, each handled once by its id', async () => {
    const random = seededRandom(5, 'delivery');
    const day = new BadDay(random);
    const story = new Integration(ledgersOf);
    story.settings = { holdAbove: 100_000 };
    const { topics, received, receive } = await subscribe(day.client, story.name, isFifo);
    const announcer = snsAnnouncer({ mails: day.client, batches: day.client }, topics, {
      integration: story.name,
      timeZone: 'UTC',
      stack: 'prod',
      detail: 'names',
      maxRows: 60,
      clock: story.clock,
      random: random.next,
    });
    await story.tick({ announcer });

    const waves = 10;
    let killed = 0;
    for (let wave = 0; wave < waves; wave += 1) {
      story.world = afterWave(wave, story.world, people / waves);
      day.isOut = wave >= 4 && wave <= 6;
      // The audit that finds edits is due every 15 minutes, and a lost lease runs out.
      story.clock.advance({ minutes: 16 });
      if (wave % 3 === 1) {
        const fate = mortal(story, announcer, random, people / 5);
        await story.tick(fate).catch((error) => {
          expect(error).toBeInstanceOf(Killed);
          killed += 1;
        });
        story.clock.advance({ minutes: 2 });
      }
      await story.tick({ announcer });
      await receive();
    }
    day.isCalm = true;
    for (let tick = 0; tick < 3; tick += 1) {
      story.clock.advance({ minutes: 16 });
      await story.tick({ announcer });
    }
    await receive();
    day.client.destroy();

    const lives = await story.ledger.lives(story.world.map(({ id }) => id));
    const expected = [...lives].flatMap(([id, { revisions }]) =>
      revisions.map(({ revision }) => `${story.name}/${id}/${revision}`),
    );
    // A subscriber's code: the library, and a handler that counts its runs.
    const once = onlyOnce(memoryStore(), { clock: story.clock });
    const runs = new Map<string, number>();
    const last = new Map<string, number>();
    for (const event of received)
      await once(event, async ({ id, subject, sequence }) => {
        runs.set(id, (runs.get(id) ?? 0) + 1);
        expect(Number(sequence), `order of ${subject}`).toBe((last.get(subject) ?? 0) + 1);
        last.set(subject, Number(sequence));
      });
    expect([...runs.keys()].sort()).toEqual(expected.sort());
    expect([...runs].filter(([, times]) => times !== 1)).toEqual([]);
    expect(killed).toBeGreaterThan(0);
    expect(Object.fromEntries(day.seen)).toMatchObject({
      ThrottledException: expect.any(Number),
      TimeoutError: expect.any(Number),
      'refused in part': expect.any(Number),
      'lost answer': expect.any(Number),
    });
    expect(expected.length).toBeGreaterThanOrEqual(2.27 * people);
    // A FIFO topic drops the duplicates itself.
    if (!isFifo) expect(received.length).toBeGreaterThan(runs.size);
  }, 120_000);
});
