import { Duration } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { Ledger } from './ledger.ts';
import { type FunctionSurroundings, NotifierFunction } from './notifier-function.ts';
import type { Topics } from './topics.ts';

export interface OperateProps extends FunctionSurroundings {
  /** Name of the integration. */
  readonly integration: string;
  readonly ledger: Ledger;
  readonly topics: Topics;
  /** Lets the function read the partner's credentials. */
  readonly credentials: readonly iam.PolicyStatement[];
  /** ARNs of the queues that events may be sent to directly: those that are subscribed to events. */
  readonly queueArns: readonly string[];
}

/**
 * The function that carries out the commands of ops. Its role has the rights of a tick. It may also send to subscribed
 * queues, and look at these, at the topics and at their key.
 */
export class Operate extends NotifierFunction {
  constructor(scope: Construct, id: string, props: OperateProps) {
    const { integration, ledger, topics, credentials, queueArns, ...surroundings } = props;
    super(scope, id, {
      ...surroundings,
      runs: 'operate',
      description: `Commands of ops for ${integration}: status, release, replay and more`,
      // The AWS CLI waits 60 seconds for an answer, and then invokes the function again. A longer command answers with
      // the point where to go on.
      timeout: Duration.seconds(55),
      maxEventAge: Duration.seconds(60),
      statements: [
        ...ledger.operateStatements(integration),
        ...topics.pollStatements('kms:DescribeKey', 'kms:GetKeyPolicy'),
        ...credentials,
        new iam.PolicyStatement({
          sid: 'LookAtTopics',
          actions: ['sns:GetTopicAttributes', 'sns:ListSubscriptionsByTopic'],
          resources: topics.all.map(({ topicArn }) => topicArn),
        }),
        ...(queueArns.length === 0
          ? []
          : [
              new iam.PolicyStatement({
                sid: 'SendToSubscribedQueues',
                actions: ['sqs:GetQueueUrl', 'sqs:GetQueueAttributes', 'sqs:SendMessage'],
                resources: [...queueArns],
              }),
            ]),
      ],
    });
  }
}
