import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { EmbeddedAws } from './aws/index.ts';

/** Long polling; also how long the end of the program may take. */
const waitSeconds = 1;

/** An SQS queue subscribed to a topic, as a consumer would have it. */
export class DemoSubscriber {
  readonly #sqs: SQSClient;
  readonly #queueUrl: string;

  private constructor(sqs: SQSClient, queueUrl: string) {
    this.#sqs = sqs;
    this.#queueUrl = queueUrl;
  }

  /**
   * @param raw whether messages come as published or in SNS's JSON wrapper
   * @param attributes of the subscription: its filter; absent: it gets everything
   */
  static async attach(
    aws: EmbeddedAws,
    options: {
      topicArn: string;
      queueName: string;
      raw: boolean;
      attributes?: Readonly<Record<string, string>>;
    },
  ): Promise<DemoSubscriber> {
    const sqs = new SQSClient(aws.clientConfig('sqs'));
    const sns = new SNSClient(aws.clientConfig('sns'));
    const { QueueUrl = '' } = await sqs.send(
      new CreateQueueCommand({ QueueName: options.queueName }),
    );
    const { Attributes = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
    );
    await sns.send(
      new SubscribeCommand({
        TopicArn: options.topicArn,
        Protocol: 'sqs',
        Endpoint: Attributes.QueueArn,
        Attributes: { ...options.attributes, RawMessageDelivery: String(options.raw) },
      }),
    );
    sns.destroy();
    return new DemoSubscriber(sqs, QueueUrl);
  }

  /** The bodies of messages as they come. Once `ending` aborts, those still in the queue, and no more. */
  async *messages(ending: AbortSignal): AsyncGenerator<string> {
    for (;;) {
      const isLast = ending.aborted;
      const { Messages = [] } = await this.#sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: this.#queueUrl,
          MaxNumberOfMessages: 10,
          WaitTimeSeconds: isLast ? 0 : waitSeconds,
        }),
      );
      for (const { Body = '' } of Messages) yield Body;
      if (Messages.length > 0) {
        await this.#sqs.send(
          new DeleteMessageBatchCommand({
            QueueUrl: this.#queueUrl,
            Entries: Messages.map(({ ReceiptHandle }, index) => ({
              Id: String(index),
              ReceiptHandle,
            })),
          }),
        );
      } else if (isLast) {
        this.#sqs.destroy();
        return;
      }
    }
  }
}
