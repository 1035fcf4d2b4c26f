import { Aws, Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import { CfnPipe } from 'aws-cdk-lib/aws-pipes';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { PassedOn } from './dashboard.ts';
import { OperationsAlarm } from './operations-alarm.ts';
import { SubscriberQueue } from './subscriber-queue.ts';
import type { Topics } from './topics.ts';

/**
 * A CloudEvent, rebuilt field by field out of the body of an SQS message, which a pipe reads as JSON. The body as a
 * whole (`<$.body>`) would lose its quotation marks (AWS: "Implicit body data parsing"). A variable stands without
 * quotation marks of its own: a text gets them, and `data` is an object.
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

/** A target tells of an outage by itself; the queue lets it have so many tries, a minute apart or more. */
const attempts = 15;
const visibilityTimeout = 60;
/** An event may wait for so many periods before ops hear of it. */
const latePeriods = 3;

export interface ForwarderProps {
  /** Where to, as operators know it. */
  readonly to: string;
  readonly topics: Topics;
  /** Whether the events topic is. */
  readonly fifo: boolean;
  readonly deadLetters: sqs.IQueue;
  /** ARN of what the pipe writes to. */
  readonly target: string;
  readonly targetParameters?: Omit<CfnPipe.PipeTargetParametersProperty, 'inputTemplate'>;
  /** What the pipe may do with its target. */
  readonly actions: readonly string[];
  /** Messages that one request to the target has. */
  readonly batchSize: number;
}

/** A queue at the events topic, and a pipe that passes on what is in it. */
export class Forwarder extends Construct implements PassedOn {
  readonly queue: sqs.Queue;
  readonly to: string;
  readonly waiting: cloudwatch.Metric;
  readonly passed: cloudwatch.Metric;

  constructor(scope: Construct, id: string, props: ForwarderProps) {
    super(scope, id);
    const { to, topics, fifo, deadLetters, target, targetParameters, batchSize } = props;
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
    // message at once and makes dead letters of what it cannot pass on, so only a stopped pipe lets messages stand.
    new OperationsAlarm(this, 'Late', {
      tells: topics.ofOperations,
      metric: this.queue.metricApproximateNumberOfMessagesVisible({
        period,
        statistic: cloudwatch.Stats.MINIMUM,
      }),
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: latePeriods,
      // SQS reports nothing of a queue that nobody has used for hours.
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
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
          // Not the pipe by its name, which CloudFormation gives it and which depends on this role.
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
