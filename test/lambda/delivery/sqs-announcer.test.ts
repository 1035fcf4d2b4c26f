import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { regionOf, sqsAnnouncer } from '../../../lambda/delivery/sqs-announcer.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { owedEvents } from '../events/announced.ts';

let server: FauxqsServer;
beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false });
});
afterAll(() => server.stop());

it.each([
  ['queue', undefined, {}],
  [
    'queue.fifo',
    { FifoQueue: 'true' },
    { MessageGroupId: 'district-a/1', MessageDeduplicationId: 'district-a/1/1/replay' },
  ],
])('%s gets SQS messages as from a raw subscription', async (QueueName, Attributes, ids) => {
  const client = new SQSClient({
    endpoint: server.address,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
  const clock = new ManualClock();
  const arn = `arn:aws:sqs:eu-central-1:000000000000:${QueueName}`;
  const owed = owedEvents(1, { replay: true });
  const deadline = clock.now().add({ seconds: 10 });
  const sent = vi.spyOn(client, 'send');
  const outcome = await sqsAnnouncer(client, arn, clock).publish(owed, deadline);
  expect(outcome).toEqual({ accepted: owed, refused: [] });
  expect(sent.mock.lastCall?.at(1)).toEqual({ requestTimeout: 15_000 });
  const { Messages } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    }),
  );
  expect(Messages).toMatchObject(
    owed.map(({ event }) => {
      const { body, attributes } = messageOf(event);
      return { Body: body, MessageAttributes: attributes, Attributes: ids };
    }),
  );
});

it('a queue is called in its own region', () => {
  expect(regionOf('arn:aws:sqs:ap-southeast-2:1:certifications')).toBe('ap-southeast-2');
});
