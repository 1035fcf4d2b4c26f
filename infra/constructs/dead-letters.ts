import { Duration, Validations } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { OperationsAlarm } from './operations-alarm.ts';
import type { Topics } from './topics.ts';

export interface DeadLettersProps {
  /** The subscriber, as ops know it; no address of a person. */
  readonly of: string;
  readonly topics: Topics;
  /** Whether the topic is FIFO; AWS: "FIFO topic subscriptions use FIFO queues". */
  readonly fifo: boolean;
}

/** Messages that could not be delivered to a subscriber. They stay for 14 days, and ops are told. */
export class DeadLetters extends Construct {
  readonly queue: sqs.Queue;

  constructor(scope: Construct, id: string, { of, topics, fifo }: DeadLettersProps) {
    super(scope, id);
    this.queue = new sqs.Queue(this, 'Queue', {
      encryption: sqs.QueueEncryption.KMS,
      encryptionMasterKey: topics.key,
      ...(fifo && { fifo }),
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(this.queue).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is itself a dead-letter queue; nothing reads it but people.',
    });

    new OperationsAlarm(this, 'NotEmpty', {
      ...notEmpty(this.queue),
      tells: topics.ofOperations,
      condition: 'dead-letters',
      of,
    });
  }
}

/** An alarm on any message in a queue that should be empty. */
export function notEmpty(queue: sqs.IQueue) {
  return {
    metric: queue.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(5),
      statistic: cloudwatch.Stats.MAXIMUM,
    }),
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    evaluationPeriods: 1,
    // SQS reports nothing of a queue that was unused for hours.
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  };
}
