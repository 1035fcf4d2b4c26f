import {
  CreateQueueCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { regionOf, sqsAnnouncer } from '../../../lambda/delivery/sqs-announcer.ts';
import { certificationEvent } from '../../../lambda/events/event.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { assessment } from '../../support/assessments.ts';

let server: FauxqsServer;
let client: SQSClient;
let queues = 0;
let arn: string;
let url: string;

beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false });
  client = new SQSClient({
    endpoint: server.address,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
});
afterAll(() => server.stop());
beforeEach(() => createQueue(`queue-${++queues}`));

async function createQueue(QueueName: string, Attributes?: Record<string, string>) {
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
  url = QueueUrl;
  arn = `arn:aws:sqs:eu-central-1:000000000000:${QueueName}`;
}

function owedEvents(count: number, name = 'Odalys Quillfeather'): OwedEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const id = index + 1;
    const event = certificationEvent({
      integration: 'district-a',
      type: 'certification.created',
      assessment: assessment({ id, name }),
      fields: 'all',
      revision: 1,
      changed: [],
      late: false,
      time: '2026-11-21T08:00:04.120Z',
      replay: true,
    });
    return { certificationId: id, revision: 1, event, owes: 'event-and-digest' };
  });
}

async function received(): Promise<Message[]> {
  const all: Message[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: 600,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All'],
      }),
    );
    if (Messages.length === 0) return all;
    all.push(...Messages);
  }
}

const clock = new ManualClock();
const deadline = clock.now().add({ hours: 1 });
const announcer = () => sqsAnnouncer(client, arn, clock);

describe('sending to one queue', () => {
  it('writes SQS messages as a raw subscription does: the event, and its attributes', async () => {
    const owed = owedEvents(1);
    expect(await announcer().publish(owed, deadline)).toEqual({ accepted: owed, refused: [] });
    const [message] = await received();
    const event = owed[0]?.event;
    expect(JSON.parse(message?.Body ?? '')).toEqual(event);
    expect(message?.MessageAttributes).toMatchObject(event ? messageOf(event).attributes : {});
    expect(message?.MessageAttributes?.replay).toMatchObject({ StringValue: 'true' });
  });

  it('sends ten to a request, within the limit of bytes', async () => {
    const owed = owedEvents(25, 'Q'.repeat(60_000));
    const { accepted } = await announcer().publish(owed, deadline);
    expect(accepted).toHaveLength(25);
    expect(await received()).toHaveLength(25);
  });

  it('gives a FIFO queue the certification as group, and an id against duplicates', async () => {
    await createQueue(`queue-${++queues}.fifo`, { FifoQueue: 'true' });
    await announcer().publish(owedEvents(2), deadline);
    const groups = (await received()).map(({ Attributes }) => Attributes?.MessageGroupId);
    expect(new Set(groups).size).toBe(2);
  });

  it('retries entries that the queue refuses for the moment', async () => {
    const mock = mockClient(client);
    mock.on(GetQueueUrlCommand).resolves({ QueueUrl: url });
    mock
      .on(SendMessageBatchCommand)
      .resolvesOnce({
        Successful: [],
        Failed: [{ Id: '0', Code: 'InternalError', SenderFault: false }],
      })
      .resolves({ Successful: [{ Id: '0', MessageId: 'm', MD5OfMessageBody: '' }] });
    const owed = owedEvents(1);
    const outcome = await announcer().publish(owed, deadline);
    mock.restore();
    expect(outcome).toEqual({ accepted: owed, refused: [] });
  });

  it.each([
    ['denies access', 'AccessDeniedException'],
    ['is encrypted with a denied key', 'KmsAccessDenied'],
    ['was deleted meanwhile', 'QueueDoesNotExist'],
  ])('returns the reason if the queue %s', async (_, code) => {
    const sending = announcer();
    await sending.publish(owedEvents(1), deadline);
    const mock = mockClient(client);
    mock.on(SendMessageBatchCommand).rejects(Object.assign(new Error('secret'), { name: code }));
    const { refused, accepted } = await sending.publish(owedEvents(12), deadline);
    mock.restore();
    expect(accepted).toEqual([]);
    expect(new Set(refused.map((refusal) => refusal.code))).toEqual(new Set([code]));
    expect(refused).toHaveLength(12);
  });

  it('reports a missing queue', async () => {
    arn = 'arn:aws:sqs:eu-central-1:000000000000:nowhere';
    await expect(announcer().publish(owedEvents(1), deadline)).rejects.toMatchObject({
      code: 'queue-unreachable',
      message: expect.stringContaining(`${arn} cannot be reached (QueueDoesNotExist)`),
    });
  });

  it('calls a queue in its own region', () => {
    expect(regionOf('arn:aws:sqs:ap-southeast-2:111122223333:certifications')).toBe(
      'ap-southeast-2',
    );
  });
});
