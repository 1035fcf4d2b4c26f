import { type Duration, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct, IDependable } from 'constructs';
import { type FunctionName, functionCode } from './function-code.ts';

/** The common properties of an integration's functions. */
export interface FunctionSurroundings {
  /** One log for ticks and commands. */
  readonly logGroup: logs.ILogGroup;
  readonly environment: Readonly<Record<string, string>>;
  /**
   * The subscriptions. A message to a topic without subscriptions is lost, so no function may know of a topic before
   * they exist.
   * @default - the function knows no topic
   */
  readonly subscriptions?: IDependable;
}

export interface NotifierFunctionProps extends FunctionSurroundings {
  readonly runs: FunctionName;
  readonly description: string;
  readonly timeout: Duration;
  /** All of its rights, besides logging. */
  readonly statements: readonly iam.PolicyStatement[];
  /** MiB. @default 512: docs/decisions/0010-bundles-and-memory.md */
  readonly memorySize?: number;
  /** @default - as many at once as the account has left */
  readonly reservedConcurrentExecutions?: number;
  /**
   * How long an asynchronous invocation may wait for its turn. After that it is dropped; a failed one is not repeated.
   * @default - Lambda's six hours and two repetitions
   */
  readonly maxEventAge?: Duration;
}

/** A function with a role of its own that has only the stated rights. */
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
      memorySize: 512,
      ...rest,
      role,
      environment: { ...environment },
      code: functionCode(scope, runs),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      loggingFormat: lambda.LoggingFormat.JSON,
      // By default, Lambda would repeat a command twice that failed or timed out.
      ...(rest.maxEventAge && { retryAttempts: 0 }),
    });
    if (subscriptions) this.node.defaultChild?.node.addDependency(subscriptions);
  }
}
