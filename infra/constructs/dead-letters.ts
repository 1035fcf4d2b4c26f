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

/** Takes the ticks that the schedules could not start. */
export function newUnstartedTicks(scope: Construct, { ofOperations: tells }: Topics): sqs.Queue {
  const queue = new sqs.Queue(scope, 'UnstartedTicks', {
    encryption: sqs.QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue of the schedules; nothing reads it but people.',
  });
  new OperationsAlarm(queue, 'NotEmpty', {
    metric: messagesIn(queue),
    tells,
    condition: 'ticks-not-started',
    of: 'the schedules',
  });
  return queue;
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
      metric: messagesIn(this.queue),
      tells: topics.ofOperations,
      condition: 'dead-letters',
      of,
    });
  }
}

/** The most messages in a queue that should be empty. */
const messagesIn = (queue: sqs.IQueue) =>
  queue.metricApproximateNumberOfMessagesVisible({
    period: Duration.minutes(5),
    statistic: cloudwatch.Stats.MAXIMUM,
  });
