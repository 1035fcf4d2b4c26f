import {
  CreateTopicCommand,
  type PublishBatchRequestEntry,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memoryStore, onlyOnce, parseEvent, type ReceivedEvent } from '../../consumer/index.ts';
import { snsAnnouncer } from '../../lambda/delivery/sns-announcer.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import { type Random, seededRandom } from '../../local/partner-sandbox/random.ts';
import { drain } from '../scaffold/deployment.ts';
import { Integration } from '../scaffold/integration.ts';
import { assessment } from '../support/assessments.ts';
import { isSoak } from '../support/soak.ts';

/** The real announcer and SNS. Ticks that die belong to the exploration and the simulation. */

let server: FauxqsServer;
beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false });
});
afterAll(() => server.stop());

const region = 'us-east-1';
const toServer = () => ({
  endpoint: server.address,
  region,
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
});

/** Real SNS with lost, partial and refused answers. */
class BadDay {
  readonly client = new SNSClient({ ...toServer(), maxAttempts: 1 });
  readonly #random: Random;
  isOut = false;
  isCalm = false;
  readonly seen = new Set<string>();

  constructor(random: Random) {
    this.#random = random;
    this.client.middlewareStack.add(
      (next) => async (call) => {
        const { input } = call;
        if (this.isOut) throw this.#fault('TimeoutError');
        if (!('PublishBatchRequestEntries' in input) || this.isCalm) return next(call);
        const { kept, ...fate } = this.#fate(input.PublishBatchRequestEntries ?? []);
        const partly = { ...call, input: { ...input, PublishBatchRequestEntries: kept } };
        const answer = await next(partly);
        if (fate.isLost) throw this.#fault('lost answer');
        return { ...answer, output: { ...answer.output, Failed: fate.refused } };
      },
      { step: 'initialize' },
    );
  }

  /** Some entries may be in `Failed`, with HTTP 200. */
  #fate(entries: readonly PublishBatchRequestEntry[]) {
    const luck = this.#random.next();
    if (luck < 0.08) throw this.#fault('ThrottledException');
    const isInPart = luck < 0.23;
    if (isInPart) this.seen.add('refused in part');
    const kept = entries.filter((_, at) => !isInPart || at === 0 || this.#random.chance(0.5));
    const refused = entries
      .filter((entry) => !kept.includes(entry))
      .map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false }));
    return { kept, refused, isLost: luck > 0.97 };
  }

  #fault(name: string): Error {
    this.seen.add(name);
    return Object.assign(new Error(name), { name });
  }
}

/** A consumer's queue, subscribed to the events by raw delivery. */
async function subscribe(sns: SNSClient, name: string, isFifo: boolean) {
  const suffix = isFifo ? '.fifo' : '';
  const topic = async (what: string, Attributes?: Record<string, string>) =>
    (await sns.send(new CreateTopicCommand({ Name: `${name}-${what}`, Attributes }))).TopicArn ??
    '';
  const topics = {
    events: await topic(`events${suffix}`, isFifo ? { FifoTopic: 'true' } : {}),
    alerts: await topic('alerts'),
    operations: await topic('operations'),
  };
  const sqs = new SQSClient(toServer());
  const QueueName = `${name}${suffix}`;
  const Attributes = isFifo ? { FifoQueue: 'true' } : undefined;
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  await sns.send(
    new SubscribeCommand({
      TopicArn: topics.events,
      Protocol: 'sqs',
      Endpoint: `arn:aws:sqs:${region}:000000000000:${QueueName}`,
      Attributes: { RawMessageDelivery: 'true' },
    }),
  );
  const received: ReceivedEvent[] = [];
  const receive = async () => {
    const messages = await drain(sqs, QueueUrl ?? '');
    received.push(...messages.map(({ Body = '' }) => parseEvent(Body)));
  };
  return { topics, received, receive };
}

const waves = 10;
/** 40 people a wave are a dozen batches: full ones, a rest, and enough for each fault. */
const people = isSoak ? 220 : 40;

/** Adds some people, and edits up to one and a half times as many of the known ones. */
function afterWave(wave: number, world: readonly Assessment[]): Assessment[] {
  const edited = world.slice(-1.5 * people);
  return [
    ...world.slice(0, -1.5 * people),
    ...edited.map((one) => ({ ...one, email: `wave-${wave}-${one.id}@example.org` })),
    ...Array.from({ length: people }, (_, index) => assessment({ id: wave * people + index + 1 })),
  ];
}

it.each([
  ['FIFO', true],
  ['standard', false],
])(
  'events on a bad day arrive all the same over a %s topic, in order by subject, each handled once by its id',
  async (_, isFifo) => {
    const random = seededRandom(5, 'delivery');
    const day = new BadDay(random);
    const story = new Integration();
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
    await story.emptyBaseline();
    for (let wave = 0; wave < waves + 3; wave += 1) {
      if (wave < waves) story.world = afterWave(wave, story.world);
      day.isOut = wave >= 4 && wave <= 6;
      day.isCalm = wave >= waves;
      // The audit that finds edits is due every 15 minutes.
      story.clock.advance({ minutes: 16 });
      await story.tick({ announcer });
      await receive();
    }
    day.client.destroy();

    const lives = await story.ledger.lives(story.world.map(({ id }) => id));
    const expected = [...lives].flatMap(([id, { revisions }]) =>
      revisions.map(({ revision }) => `${story.name}/${id}/${revision}`),
    );
    // A subscriber's code: the library, and a handler that counts its runs.
    const once = onlyOnce(memoryStore(), { clock: story.clock });
    const handled: string[] = [];
    const last = new Map<string, number>();
    for (const event of received)
      await once(event, async ({ id, subject, sequence }) => {
        handled.push(id);
        expect(Number(sequence), `order of ${subject}`).toBe((last.get(subject) ?? 0) + 1);
        last.set(subject, Number(sequence));
      });
    expect(handled.sort()).toEqual(expected.sort());
    const faults = ['ThrottledException', 'TimeoutError', 'lost answer', 'refused in part'];
    expect([...day.seen].sort()).toEqual(faults);
    expect(expected.length).toBeGreaterThanOrEqual(2.27 * waves * people);
    // A FIFO topic drops the duplicates itself.
    if (!isFifo) expect(received.length).toBeGreaterThan(handled.length);
  },
);
