/**
 * For trying it out: plays SNS for a certification-notifier that runs on this machine (`npm start` in
 * its folder), whose embedded SNS delivers to queues only. It signs each event with a key made for
 * this run and posts it, as SNS would. Does nothing where TOPIC_ARN is set, as it is on AWS. Where only
 * that is wanted, delete this file, let `start` in package.json be `node server.ts`, and remove the
 * devDependencies.
 */
import { createSign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { generate } from 'selfsigned';

const SigningCertURL =
  'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-00000000000000000000000000000000.pem';

if (!process.env.TOPIC_ARN) await connect();

async function connect(): Promise<void> {
  const folder = process.env.NOTIFIER_LOCAL || `${import.meta.dirname}/../../.local`;
  const instance = await readFile(`${folder}/instance.json`, 'utf8').then(JSON.parse, () => {
    console.error(
      'Start certification-notifier first (`npm start` in its folder), or set TOPIC_ARN.',
    );
    process.exit(1);
  });
  const functions: Record<string, string>[] = Object.values(instance.aws?.functions ?? {});
  const poll = functions.find(({ EVENTS_TOPIC_ARN }) => EVENTS_TOPIC_ARN);
  if (!poll) {
    console.error('certification-notifier is still starting. Try again in a moment.');
    process.exit(1);
  }
  // Region, endpoints and credentials of the embedded AWS: the SDK finds them there.
  for (const [name, value] of Object.entries(poll))
    if (name.startsWith('AWS_')) process.env[name] = value;

  const [sqs, sns] = [new SQSClient(), new SNSClient()];
  const queue = await sqs.send(new CreateQueueCommand({ QueueName: 'https-webhook' }));
  // The embedded SQS names its queues by a host that not every machine resolves.
  const QueueUrl = `${poll.AWS_ENDPOINT_URL_SQS}${new URL(queue.QueueUrl ?? '').pathname}`;
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  await sns.send(
    new SubscribeCommand({
      TopicArn: poll.EVENTS_TOPIC_ARN,
      Protocol: 'sqs',
      Endpoint: Attributes?.QueueArn,
    }),
  );
  process.env.TOPIC_ARN = poll.EVENTS_TOPIC_ARN;

  const { cert, private: key } = await generate([{ name: 'commonName', value: 'SNS, played' }], {
    algorithm: 'sha256',
  });
  // The receiver asks for the certificate where SNS keeps its own; this one is not there.
  const { fetch } = globalThis;
  globalThis.fetch = async (url, init) =>
    url === SigningCertURL ? new Response(cert) : fetch(url, init);
  void deliver(sqs, QueueUrl, key);
}

async function deliver(sqs: SQSClient, QueueUrl: string, key: string): Promise<never> {
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 5 }),
    );
    for (const { Body = '', ReceiptHandle } of Messages) {
      const status = await post(signed(JSON.parse(Body), key));
      // Like SNS: what was answered with 5xx, or not at all, comes again.
      if (status < 500) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
}

/** AWS, "Verifying the signatures of Amazon SNS messages". */
function signed(envelope: Record<string, string>, key: string): Record<string, string> {
  const signature = createSign('RSA-SHA256');
  for (const name of ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'])
    if (envelope[name] !== undefined) signature.update(`${name}\n${envelope[name]}\n`);
  const Signature = signature.sign(key, 'base64');
  return { ...envelope, SignatureVersion: '2', SigningCertURL, Signature };
}

async function post(message: Record<string, string>): Promise<number> {
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${process.env.PORT ?? 8080}/`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=UTF-8' },
        body: JSON.stringify(message),
      });
      return response.status;
    } catch {
      // The receiver is not there yet, or away.
      await setTimeout(500);
    }
  }
}
