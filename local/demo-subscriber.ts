import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { EmbeddedAws } from './aws/index.ts';

/** Long polling. The end of the program waits as long. */
const waitSeconds = 1;

/** An SQS queue subscribed to a topic, like a consumer's. */
export class DemoSubscriber {
  readonly #sqs: SQSClient;
  readonly #queueUrl: string;

  private constructor(sqs: SQSClient, queueUrl: string) {
    this.#sqs = sqs;
    this.#queueUrl = queueUrl;
  }

  /**
   * @param raw whether messages come without SNS's JSON envelope
   * @param attributes the filter of the subscription; absent: it gets everything
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

  /** The bodies of messages as they come. Once `ending` aborts, only the messages in the queue are still delivered. */
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
