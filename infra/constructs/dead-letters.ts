import { Duration, Validations } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { OperationsAlarm } from './operations-alarm.ts';
import type { Topics } from './topics.ts';

export interface DeadLettersProps {
  /** Whose they are, as operators know it; no address of a person. */
  readonly of: string;
  readonly topics: Topics;
  /** Whether they are of a FIFO topic; AWS: "FIFO topic subscriptions use FIFO queues". */
  readonly fifo: boolean;
}

/** What could not be brought to a subscriber: kept for 14 days, and operators are told. */
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

/** An alarm on anything at all in a queue that should be empty. */
export function notEmpty(queue: sqs.IQueue) {
  return {
    metric: queue.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(5),
      statistic: cloudwatch.Stats.MAXIMUM,
    }),
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    evaluationPeriods: 1,
    // SQS reports nothing of a queue that nobody has used for hours.
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  };
}
