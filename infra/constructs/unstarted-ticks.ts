import { Duration, Validations } from 'aws-cdk-lib';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { notEmpty } from './dead-letters.ts';
import { OperationsAlarm } from './operations-alarm.ts';
import type { Topics } from './topics.ts';

/** Takes the ticks that the schedules could not start. */
export class UnstartedTicks extends sqs.Queue {
  constructor(scope: Construct, id: string, topics: Topics) {
    super(scope, id, {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is the dead-letter queue of the schedules; nothing reads it but people.',
    });
    new OperationsAlarm(this, 'NotEmpty', {
      ...notEmpty(this),
      tells: topics.ofOperations,
      condition: 'ticks-not-started',
      of: 'the schedules',
    });
  }
}
