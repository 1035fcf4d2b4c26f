import { Duration, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { bundled } from './bundling.ts';
import type { Ledger } from './ledger.ts';
import type { Topics } from './topics.ts';

export interface OperateProps {
  /** Name of the integration. */
  readonly integration: string;
  readonly ledger: Ledger;
  readonly topics: Topics;
  /** Of the integration: commands are read beside the ticks that they explain. */
  readonly logGroup: logs.ILogGroup;
  /** What the ticks are told, too. */
  readonly environment: Readonly<Record<string, string>>;
  /** Lets the function read the partner's credentials. */
  readonly credentials: readonly iam.PolicyStatement[];
  /** ARNs of the queues that events may be sent to one by one: those that are subscribed to them. */
  readonly queueArns: readonly string[];
}

/**
 * What the people on duty ask for, inside AWS: a function that is invoked by hand. Its role may do
 * what a tick may, send to subscribed queues, and look at the topics.
 */
export class Operate extends Construct {
  readonly function: lambda.Function;

  constructor(scope: Construct, id: string, props: OperateProps) {
    super(scope, id);
    const { integration, logGroup } = props;
    this.function = new lambda.Function(this, 'Function', {
      description: `Commands of operators about ${integration}: status, release, replay and more`,
      code: bundled(this, 'operate'),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      // docs/decisions/0010-bundles-and-memory.md
      memorySize: 512,
      // The AWS CLI waits for an answer for 60 seconds and then invokes the function again. What takes
      // longer answers where to go on.
      timeout: Duration.seconds(55),
      role: this.#role(props),
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      environment: { ...props.environment },
    });
  }

  #role({ ledger, topics, logGroup, credentials, queueArns }: OperateProps): iam.Role {
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        operate: new iam.PolicyDocument({
          statements: [
            // Commands run ticks, and decide about what ticks have left: they need what a tick needs.
            ...ledger.pollStatements(),
            ...topics.pollStatements(),
            ...credentials,
            new iam.PolicyStatement({
              sid: 'LookAtTopics',
              actions: ['sns:GetTopicAttributes'],
              resources: [topics.events, topics.alerts, topics.operations].map(
                ({ topicArn }) => topicArn,
              ),
            }),
            ...(queueArns.length === 0
              ? []
              : [
                  new iam.PolicyStatement({
                    sid: 'SendToSubscribedQueues',
                    actions: ['sqs:GetQueueUrl', 'sqs:SendMessage'],
                    resources: [...queueArns],
                  }),
                ]),
            new iam.PolicyStatement({
              sid: 'Logs',
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [logGroup.logGroupArn],
            }),
          ],
        }),
      },
    });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
      reason: 'SNS asks publishers to an encrypted topic for it; it is limited to that one key.',
    });
    return role;
  }
}
