import { Aws } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/**
 * The role of the scheduler while it starts ticks and self-checks. One role, since a stack has room for few resources.
 */
export class Starter extends iam.Role {
  readonly #invoke: iam.PolicyStatement;

  /** @param unstarted takes the ticks that the scheduler could not start */
  constructor(scope: Construct, id: string, unstarted: sqs.IQueue) {
    const invoke = new iam.PolicyStatement({ actions: ['lambda:InvokeFunction'] });
    super(scope, id, {
      assumedBy: new iam.ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
      inlinePolicies: {
        start: new iam.PolicyDocument({
          statements: [
            invoke,
            new iam.PolicyStatement({
              actions: ['sqs:SendMessage'],
              resources: [unstarted.queueArn],
            }),
          ],
        }),
      },
    });
    this.#invoke = invoke;
  }

  /** Lets the role start the function, but no version or alias of it, which the construct would also allow. */
  starting({ functionArn }: lambda.IFunction): iam.IRole {
    this.#invoke.addResources(functionArn);
    return this.withoutPolicyUpdates();
  }
}
