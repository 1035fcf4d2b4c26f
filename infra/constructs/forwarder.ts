import { Aws, Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import { CfnPipe } from 'aws-cdk-lib/aws-pipes';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { warnWhereMissing } from '../config/place.ts';
import type { PassedOn } from './dashboard.ts';
import { OperationsAlarm } from './operations-alarm.ts';
import { SubscriberQueue } from './subscriber-queue.ts';
import type { Topics } from './topics.ts';

/**
 * A CloudEvent, rebuilt field by field from the body of an SQS message, which a pipe reads as JSON. The whole body
 * (`<$.body>`) would lose its quotation marks (AWS: "Implicit body data parsing"). A variable stands without quotation
 * marks: a text gets them, and `data` is an object.
 */
const fields = [
  'specversion',
  'id',
  'source',
  'subject',
  'time',
  'datacontenttype',
  'dataschema',
  'sequence',
  'type',
  'data',
];
const inputTemplate = `{${fields.map((field) => `"${field}":<$.body.${field}>`).join(',')}}`;

/**
 * A pipe retries by itself while its target is out of order; the queue allows so many tries, a minute apart or more.
 */
const attempts = 15;
const visibilityTimeout = 60;
/** Ops hear of an event that has waited for so many periods. */
const latePeriods = 3;

export interface ForwarderProps {
  /** The receiver, as ops know it. */
  readonly name: string;
  readonly topics: Topics;
  /** Whether the events topic is FIFO. */
  readonly fifo: boolean;
  readonly deadLetters: sqs.IQueue;
  /** The ARN of the pipe's target. */
  readonly target: string;
  readonly targetParameters?: Omit<CfnPipe.PipeTargetParametersProperty, 'inputTemplate'>;
  /** The pipe's rights on its target. */
  readonly actions: readonly string[];
  /** Messages in one request to the target. */
  readonly batchSize: number;
}

/** A queue at the events topic, and a pipe that passes its messages on. */
export class Forwarder extends Construct implements PassedOn {
  readonly queue: sqs.Queue;
  readonly to: string;
  readonly waiting: cloudwatch.Metric;
  readonly passed: cloudwatch.Metric;

  constructor(scope: Construct, id: string, props: ForwarderProps) {
    super(scope, id);
    const { name: to, topics, fifo, deadLetters, target, targetParameters, batchSize } = props;
    warnWhereMissing(this, 'AWS::Pipes::Pipe');
    this.to = to;
    this.queue = new SubscriberQueue(this, 'Queue', {
      config: { visibilityTimeout, attempts },
      topics,
      topicArn: topics.events.topicArn,
      fifo,
      deadLetters,
    }).queue;
    const period = Duration.minutes(5);
    this.waiting = this.queue.metricApproximateAgeOfOldestMessage({
      period,
      statistic: cloudwatch.Stats.MAXIMUM,
    });
    this.passed = this.queue.metricNumberOfMessagesDeleted({
      period,
      statistic: cloudwatch.Stats.SUM,
    });
    new CfnPipe(this, 'Pipe', {
      description: `Passes certification events on to ${to}`,
      roleArn: this.#role(props).roleArn,
      source: this.queue.queueArn,
      sourceParameters: { sqsQueueParameters: { batchSize } },
      target,
      targetParameters: { ...targetParameters, inputTemplate },
    });
    // Not by age: SQS leaves a message out of that metric once it was received three times. A running pipe takes each
    // message at once, and makes a dead letter of a message that it cannot pass on. So messages stand only while the
    // pipe is stopped.
    new OperationsAlarm(this, 'Late', {
      tells: topics.ofOperations,
      metric: this.queue.metricApproximateNumberOfMessagesVisible({
        period,
        statistic: cloudwatch.Stats.MINIMUM,
      }),
      evaluationPeriods: latePeriods,
      condition: 'not-forwarded',
      of: to,
    });
  }

  #role({ topics, target, actions }: ForwarderProps): iam.Role {
    const statement = (sid: string, actions: readonly string[], resource: string) => ({
      sid,
      actions: [...actions],
      resources: [resource],
    });
    return new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('pipes.amazonaws.com', {
        conditions: {
          StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
          // Not the pipe by its name: CloudFormation gives that name, and the pipe depends on this role.
          ArnLike: {
            'aws:SourceArn': `arn:${Aws.PARTITION}:pipes:${Aws.REGION}:${Aws.ACCOUNT_ID}:pipe/*`,
          },
        },
      }),
      inlinePolicies: {
        PassOn: new iam.PolicyDocument({
          statements: [
            statement(
              'TakeFromQueue',
              ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
              this.queue.queueArn,
            ),
            {
              ...statement('DecryptMessages', ['kms:Decrypt'], topics.key.keyArn),
              conditions: {
                StringEquals: { 'kms:ViaService': `sqs.${Aws.REGION}.${Aws.URL_SUFFIX}` },
              },
            },
            statement('WriteToTarget', actions, target),
          ].map((one) => new iam.PolicyStatement(one)),
        }),
      },
    });
  }
}
