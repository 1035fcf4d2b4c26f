/**
 * For trying it out: connects to a certification-notifier that runs on this machine (`npm start` in
 * its folder), makes a queue there, subscribes it, and makes a table. Does nothing where QUEUE_URL is
 * set, as it is on AWS. Where only that is wanted, delete this file, let `start` in package.json be
 * `node worker.ts`, and remove `@aws-sdk/client-sns`.
 */
import { readFile } from 'node:fs/promises';
import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';

if (!process.env.QUEUE_URL) await connect();

async function connect(): Promise<void> {
  const folder = process.env.NOTIFIER_LOCAL || `${import.meta.dirname}/../../.local`;
  const instance = await readFile(`${folder}/instance.json`, 'utf8').then(JSON.parse, () => {
    console.error(
      'Start certification-notifier first (`npm start` in its folder), or set QUEUE_URL.',
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

  const [sqs, sns, dynamodb] = [new SQSClient(), new SNSClient(), new DynamoDBClient()];
  const queue = await sqs.send(new CreateQueueCommand({ QueueName: 'sqs-worker' }));
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
      Attributes: { RawMessageDelivery: 'true' },
    }),
  );
  const TableName = 'sqs-worker';
  await dynamodb
    .send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      }),
    )
    .catch((error) => {
      if (!(error instanceof ResourceInUseException)) throw error;
    });
  Object.assign(process.env, { QUEUE_URL: QueueUrl, TABLE_NAME: TableName });
}
