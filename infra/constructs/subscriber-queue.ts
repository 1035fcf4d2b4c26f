import { Aws, Duration } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { NewQueueConfig } from '../config.ts';
import type { Topics } from './topics.ts';

export interface SubscriberQueueProps {
  readonly config: Omit<NewQueueConfig, 'newQueue'>;
  readonly topics: Topics;
  /** The only sender. */
  readonly topicArn: string;
  /** Whether the topic is FIFO. */
  readonly fifo: boolean;
  readonly deadLetters: sqs.IQueue;
}

/** A queue made for a subscriber: only its topic may send, only its readers may receive. */
export class SubscriberQueue extends Construct {
  readonly queue: sqs.Queue;

  constructor(scope: Construct, id: string, props: SubscriberQueueProps) {
    super(scope, id);
    const { config, topics, topicArn, fifo, deadLetters } = props;
    this.queue = new sqs.Queue(this, 'Queue', {
      encryption: sqs.QueueEncryption.KMS,
      encryptionMasterKey: topics.key,
      ...(fifo && {
        fifo,
        // The queue keeps order within an assessment only, so a waiting event delays no other assessment.
        deduplicationScope: sqs.DeduplicationScope.MESSAGE_GROUP,
        fifoThroughputLimit: sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      }),
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      visibilityTimeout: Duration.seconds(config.visibilityTimeout),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: config.attempts },
    });
    this.queue.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'TopicMaySend',
        principals: [new iam.ServicePrincipal('sns.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [this.queue.queueArn],
        conditions: { ArnEquals: { 'aws:SourceArn': topicArn } },
      }),
    );
    if (config.readers) this.#admit(config.readers, topics);
  }

  #admit(readers: readonly string[], topics: Topics): void {
    const principals = readers.map((arn) => new iam.ArnPrincipal(arn));
    this.queue.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'ReadersMayReceive',
        principals,
        actions: [
          'sqs:ReceiveMessage',
          'sqs:DeleteMessage',
          'sqs:ChangeMessageVisibility',
          'sqs:GetQueueAttributes',
          'sqs:GetQueueUrl',
        ],
        resources: [this.queue.queueArn],
      }),
    );
    topics.key.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: `Readers${this.node.addr.slice(0, 8)}`,
        principals,
        actions: ['kms:Decrypt'],
        resources: ['*'],
        conditions: {
          StringEquals: { 'kms:ViaService': `sqs.${Aws.REGION}.${Aws.URL_SUFFIX}` },
        },
      }),
    );
  }
}
