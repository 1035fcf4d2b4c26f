import {
  CreateTopicCommand,
  PublishCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SnsMessageRefusedError, verifySnsMessage } from '../../../consumer/index.ts';
import { signNotifications } from '../../../local/aws/sns-signatures.ts';

const messaging = buildApp({ logger: false });
let sns: SNSClient;
let sqs: SQSClient;
let endpoint: string;
let TopicArn: string;

beforeAll(async () => {
  signNotifications(messaging);
  endpoint = await messaging.listen({ port: 0, host: '127.0.0.1' });
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const config = { endpoint, region: 'us-east-1', credentials, useQueueUrlAsEndpoint: false };
  sns = new SNSClient(config);
  sqs = new SQSClient(config);
  TopicArn = (await sns.send(new CreateTopicCommand({ Name: 'events' }))).TopicArn ?? '';
});
afterAll(() => messaging.close());

/** The queue's copy of one message. */
async function delivered(QueueName: string, raw: boolean, Message: string, Subject?: string) {
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName }));
  const Endpoint = `arn:aws:sqs:us-east-1:000000000000:${QueueName}`;
  const Attributes = { RawMessageDelivery: String(raw) };
  await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint, Attributes }));
  await sns.send(new PublishCommand({ TopicArn, Message, Subject }));
  // The SDK refuses a body with another digest.
  const receive = new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 0 });
  const bodies = [];
  for (let time = 0; time < 2; time += 1)
    bodies.push((await sqs.send(receive)).Messages?.[0]?.Body ?? '');
  return bodies;
}

const verified = (body: string) =>
  verifySnsMessage(body, {
    topicArns: TopicArn,
    fetch: (url) => fetch(url.replace('https://sns.us-east-1.amazonaws.com', endpoint)),
  });

describe('an SNS message in a queue', () => {
  it.each([
    ['with a subject', 'A “subject”'],
    ['without one', undefined],
  ])('is signed as by AWS, %s, and the same each time', async (name, subject) => {
    const queue = name.replaceAll(' ', '-');
    const [body = '', again] = await delivered(queue, false, 'Zoë\nEXAMPLE', subject);
    expect(await verified(body)).toMatchObject({ kind: 'notification', message: 'Zoë\nEXAMPLE' });
    expect(again).toBe(body);
    const { Message, ...rest } = JSON.parse(body);
    expect(Object.keys(rest)[0]).toBe('Type');
    await expect(verified(JSON.stringify({ Message: `${Message}!`, ...rest }))).rejects.toThrow(
      SnsMessageRefusedError,
    );
  });

  it('equals the published one with raw delivery', async () => {
    const Message = '{"Type":"Notification","Signature":"EXAMPLE"}';
    expect(await delivered('raw', true, Message)).toEqual([Message, Message]);
  });
});
