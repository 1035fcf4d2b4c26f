import {
  CreateTopicCommand,
  type PublishBatchRequestEntry,
  PublishCommand,
  SNSClient,
  type SNSClientConfig,
} from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snsAnnouncer } from '../../../lambda/delivery/sns-announcer.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { owedEvents } from '../events/announced.ts';
import { mailOptions } from './mail-options.ts';

let server: FauxqsServer;
let client: SNSClient;
let topics: { events: string; alerts: string; operations: string };

beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false });
  client = clientOf();
  topics = {
    events: await topic('events'),
    alerts: await topic('alerts'),
    operations: await topic('operations'),
  };
});
afterAll(() => server.stop());

const clientOf = (more: SNSClientConfig = {}) =>
  new SNSClient({
    endpoint: server.address,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
    ...more,
  });

async function topic(Name: string, Attributes: Record<string, string> = {}): Promise<string> {
  const { TopicArn } = await client.send(new CreateTopicCommand({ Name, Attributes }));
  if (TopicArn === undefined) throw new Error('no topic');
  return TopicArn;
}

const clock = new ManualClock();
const announcer = (to = topics, of = client) =>
  snsAnnouncer({ mails: of, batches: of }, to, { ...mailOptions, clock });
const deadline = clock.now().add({ hours: 1 });

describe('publishing events', () => {
  it('waits for an answer as long as there is time, longer than for a mail, and names denied actions', async () => {
    const timeouts: unknown[] = [];
    const denying = clientOf({
      requestHandler: {
        handle: async (_: unknown, { requestTimeout }: { requestTimeout?: number }) => {
          timeouts.push(requestTimeout);
          throw Object.assign(new Error('denied'), { name: 'AccessDenied' });
        },
      },
    });
    const { publish, notify } = announcer(topics, denying);
    const published = await publish(owedEvents(1), clock.now().add({ seconds: 10 }));
    const notified = await notify({ subject: 'a notice', text: 'a notice' });
    expect(timeouts).toEqual([15_000, undefined]);
    const message = (topic: string) => expect.stringContaining(`denies sns:Publish on ${topic} `);
    expect(published).toMatchObject({ denial: { message: message(topics.events) } });
    expect(notified).toMatchObject({ denial: { message: message(topics.operations) } });
  });

  it.each([
    ['a topic no ids', 'events', {}, undefined],
    ['a FIFO topic groups and ids', 'events.fifo', { FifoTopic: 'true' }, 'district-a/'],
  ])(
    'gives %s, and requests of at most the bytes that SNS accepts',
    async (_, name, of, prefix) => {
      const batches: PublishBatchRequestEntry[][] = [];
      client.middlewareStack.add(
        (next) => (call) => {
          if ('PublishBatchRequestEntries' in call.input)
            batches.push(call.input.PublishBatchRequestEntries ?? []);
          return next(call);
        },
        { name: 'watched', step: 'initialize' },
      );
      const owed = owedEvents(3, {}, 'é'.repeat(50_000));
      const outcome = await announcer({ ...topics, events: await topic(name, of) }).publish(
        owed,
        deadline,
      );
      client.middlewareStack.remove('watched');
      expect(outcome).toEqual({ accepted: owed, refused: [] });
      const given = batches.map((entries) =>
        entries.map((entry) => [entry.MessageGroupId, entry.MessageDeduplicationId]),
      );
      const ids = (id: number) =>
        prefix ? [`${prefix}${id}`, `${prefix}${id}/1`] : [undefined, undefined];
      // Each has 100 KB of name: two fit into 256 KiB.
      expect(given).toEqual([[ids(1), ids(2)], [ids(3)]]);
    },
  );
});

describe('the mail to people', () => {
  it.each([
    ['when SNS calls the mail invalid', 'InvalidParameterException', true],
    ['not when the topic is missing', 'NotFoundException', false],
  ])('is sent again at once with only the numbers: %s', async (_, name, isSentAgain) => {
    const fault = mockClient(SNSClient);
    fault
      .on(PublishCommand)
      .rejectsOnce(Object.assign(new Error('oops'), { name }))
      .resolves({ MessageId: 'taken' });
    const outcome = await announcer().tellPeople(owedEvents(3).map(({ event }) => event));
    const inputs = fault.commandCalls(PublishCommand).map(({ args: [{ input }] }) => input);
    fault.restore();
    expect(outcome).toMatchObject(
      isSentAgain ? { accepted: true } : { accepted: false, code: name },
    );
    expect(inputs.map(({ Subject }) => Subject)).toEqual([
      'district-a: 3 new certifications: Rope Bridge Safety (3)',
      ...(isSentAgain ? ['district-a: certifications that are new or have changed: 3'] : []),
    ]);
    expect(inputs[0]?.Message).toContain('Odalys');
    expect(`${inputs[1]?.Message}`).not.toMatch(/Odalys|Rope Bridge|Larkspur/);
  });
});
