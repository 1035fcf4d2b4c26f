import { type Duration, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct, IDependable } from 'constructs';
import type { functionNames } from '../bundling/options.ts';
import { functionCode } from './function-code.ts';

/** What the functions of an integration have in common. */
export interface FunctionSurroundings {
  /** What ticks, commands and tasks did is read in one place. */
  readonly logGroup: logs.ILogGroup;
  readonly environment: Readonly<Record<string, string>>;
  /**
   * The subscriptions. What is published to a topic that nobody has subscribed to yet is lost, so no
   * function may know of a topic before they do.
   */
  readonly subscriptions: IDependable;
}

export interface NotifierFunctionProps extends FunctionSurroundings {
  /** Which module of `lambda/`. */
  readonly runs: (typeof functionNames)[number];
  readonly description: string;
  readonly timeout: Duration;
  /** All that it may do, besides logging. */
  readonly statements: readonly iam.PolicyStatement[];
  /** @default - as many at once as the account has left */
  readonly reservedConcurrentExecutions?: number;
  /**
   * How long an asynchronous invocation may wait for its turn; it is then dropped, and a failed one is not
   * repeated.
   * @default - Lambda's six hours and two repetitions
   */
  readonly maxEventAge?: Duration;
}

/** A function of `lambda/`, with a role of its own that may do what is stated and nothing else. */
export class NotifierFunction extends lambda.Function {
  constructor(scope: Construct, id: string, props: NotifierFunctionProps) {
    const { runs, statements, environment, subscriptions, ...rest } = props;
    const role = new iam.Role(scope, `${id}Role`, {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        [runs]: new iam.PolicyDocument({
          statements: [
            ...statements,
            new iam.PolicyStatement({
              sid: 'Logs',
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [rest.logGroup.logGroupArn],
            }),
          ],
        }),
      },
    });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
      reason: 'SNS asks publishers to an encrypted topic for it; it is limited to that one key.',
    });
    super(scope, id, {
      ...rest,
      role,
      environment: { ...environment },
      code: functionCode(scope, runs),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      // docs/decisions/0010-bundles-and-memory.md
      memorySize: 512,
      loggingFormat: lambda.LoggingFormat.JSON,
      // By default, Lambda would run a command that failed or timed out twice more.
      ...(rest.maxEventAge && { retryAttempts: 0 }),
    });
    this.node.defaultChild?.node.addDependency(subscriptions);
  }
}
