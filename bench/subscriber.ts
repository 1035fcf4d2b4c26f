import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import * as z from 'zod';
import type { AwsReady } from './child.ts';
import { clientOptions } from './meter.ts';

/** The fields that the events of all contenders have; some have more. */
const event = z.object({ id: z.string(), type: z.string(), subject: z.string() });
export type Heard = z.output<typeof event>;

/** The topics of a deployment. Digests and notices go to people. */
export const topicsOf = (events: Subscriber, people: Subscriber) => ({
  events: events.topic,
  alerts: people.topic,
  operations: people.topic,
});

/** A topic, and an SQS queue that gets its messages by raw delivery. */
export class Subscriber {
  readonly topic: string;
  readonly #client: SQSClient;
  readonly #queue: string;

  private constructor(topic: string, client: SQSClient, queue: string) {
    this.topic = topic;
    this.#client = client;
    this.#queue = queue;
  }

  static async to(name: string, { messaging }: AwsReady): Promise<Subscriber> {
    const client = new SQSClient({ ...clientOptions, endpoint: messaging });
    const sns = new SNSClient({ ...clientOptions, endpoint: messaging });
    const { TopicArn = '' } = await sns.send(new CreateTopicCommand({ Name: name }));
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: name }));
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
    );
    await sns.send(
      new SubscribeCommand({
        TopicArn,
        Protocol: 'sqs',
        Endpoint: Attributes?.QueueArn,
        Attributes: { RawMessageDelivery: 'true' },
      }),
    );
    sns.destroy();
    return new Subscriber(TopicArn, client, QueueUrl);
  }

  /** All events since the last call. */
  async heard(): Promise<Heard[]> {
    const all: Heard[] = [];
    for (;;) {
      const { Messages = [] } = await this.#client.send(
        new ReceiveMessageCommand({ QueueUrl: this.#queue, MaxNumberOfMessages: 10 }),
      );
      if (Messages.length === 0) return all;
      for (const { Body = '' } of Messages) all.push(event.parse(JSON.parse(Body)));
      await this.#client.send(
        new DeleteMessageBatchCommand({
          QueueUrl: this.#queue,
          Entries: Messages.map(({ ReceiptHandle = '' }, index) => ({
            Id: String(index),
            ReceiptHandle,
          })),
        }),
      );
    }
  }

  close(): void {
    this.#client.destroy();
  }
}
