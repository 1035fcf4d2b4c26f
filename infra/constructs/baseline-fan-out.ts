import {
  ArnFormat,
  Aws,
  CfnElement,
  Duration,
  RemovalPolicy,
  Stack,
  Validations,
} from 'aws-cdk-lib';
import { ComparisonOperator, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as scheduler from 'aws-cdk-lib/aws-scheduler';
import { StepFunctionsStartExecution } from 'aws-cdk-lib/aws-scheduler-targets';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { baselineSteps } from './baseline-steps.ts';
import type { Ledger } from './ledger.ts';
import { type FunctionSurroundings, NotifierFunction } from './notifier-function.ts';
import { OperationsAlarm } from './operations-alarm.ts';
import type { Topics } from './topics.ts';

export interface BaselineFanOutProps extends FunctionSurroundings {
  /** Name of the integration. */
  readonly integration: string;
  /** Tasks that read from the partner at the same time. */
  readonly atOnce: number;
  readonly ledger: Ledger;
  readonly topics: Topics;
  /** Lets the function read the partner's credentials. */
  readonly credentials: readonly iam.PolicyStatement[];
  /** Takes the executions that the scheduler could not start. */
  readonly unstarted: sqs.IQueue;
  /** Days. */
  readonly logRetention: logs.RetentionDays;
}

/**
 * The baseline of a large history, read by several tasks at once (baseline-steps.ts). A schedule starts it every hour;
 * once the baseline is completed, it ends at once. It can also be started by hand.
 */
export class BaselineFanOut extends Construct {
  readonly stateMachine: sfn.StateMachine;
  readonly #tasks: lambda.IFunction;

  constructor(scope: Construct, id: string, props: BaselineFanOutProps) {
    super(scope, id);
    this.#tasks = this.#function(props);
    const role = this.#machineRole();
    this.stateMachine = new sfn.StateMachine(this, 'StateMachine', {
      comment: `Reads the baseline of ${props.integration}`,
      definitionBody: sfn.DefinitionBody.fromChainable(
        baselineSteps(this, this.#tasks, props.atOnce),
      ),
      role: role.withoutPolicyUpdates(),
      logs: {
        destination: this.#logGroup(props),
        level: sfn.LogLevel.ALL,
        includeExecutionData: true,
      },
    });
    Validations.of(this.stateMachine).acknowledge({
      id: 'AwsSolutions-SF2',
      reason: 'A trace of three tasks would show nothing that the history and the logs do not.',
    });
    // The CDK's own policy would allow more than the policy of this role.
    this.stateMachine.node.tryRemoveChild('DistributedMapPolicy');
    this.#letItSeeItself(role);
    this.#schedule(props);
    new OperationsAlarm(this, 'Failed', {
      tells: props.topics.ofOperations,
      metric: this.stateMachine.metricFailed({ statistic: Stats.SUM, period: Duration.hours(1) }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      condition: 'baseline-failed',
      integration: props.integration,
    });
  }

  #function(props: BaselineFanOutProps): lambda.IFunction {
    const { integration, ledger, credentials } = props;
    const { logGroup, environment, subscriptions } = props;
    return new NotifierFunction(this, 'Function', {
      runs: 'fan-out',
      description: `Reads days of the baseline of ${integration}`,
      // Enough for the plan of a very large history. A range that takes longer goes on in another invocation.
      timeout: Duration.minutes(10),
      logGroup,
      environment,
      subscriptions,
      statements: [ledger.baselineStatement(integration), ...credentials],
    });
  }

  /**
   * Step Functions lists its log groups in a policy of the account and region, which fills up. Log groups with this
   * prefix need no entry there.
   */
  #logGroup({ integration, logRetention }: BaselineFanOutProps): logs.LogGroup {
    return new logs.LogGroup(this, 'StateMachineLogs', {
      logGroupName: `/aws/vendedlogs/states/${Aws.STACK_NAME}/${integration}-${this.node.addr.slice(0, 8)}`,
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  #machineRole(): iam.Role {
    const role = new iam.Role(this, 'StateMachineRole', {
      assumedBy: new iam.ServicePrincipal('states.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
      inlinePolicies: {
        tasks: new iam.PolicyDocument({
          statements: [
            new iam.PolicyStatement({
              sid: 'Tasks',
              actions: ['lambda:InvokeFunction'],
              resources: [this.#tasks.functionArn],
            }),
            new iam.PolicyStatement({
              sid: 'Logs',
              actions: [
                'logs:CreateLogDelivery',
                'logs:DeleteLogDelivery',
                'logs:DescribeLogGroups',
                'logs:DescribeResourcePolicies',
                'logs:GetLogDelivery',
                'logs:ListLogDeliveries',
                'logs:PutResourcePolicy',
                'logs:UpdateLogDelivery',
              ],
              resources: ['*'],
            }),
          ],
        }),
      },
    });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'AWS has no narrower resource for log deliveries; no log can be read with these.',
    });
    return role;
  }

  /** The rights of a Distributed Map on its own state machine, in a policy that is made after that. */
  #letItSeeItself(role: iam.Role): void {
    const { stateMachineArn, stateMachineName } = this.stateMachine;
    const stack = Stack.of(this);
    // AWS's documentation names the first form; the executions of ranges look like the second.
    const endings = [':*', '/*'];
    const policy = new iam.Policy(this, 'Itself', {
      roles: [role],
      statements: [
        new iam.PolicyStatement({
          sid: 'Itself',
          actions: ['states:ListExecutions', 'states:StartExecution'],
          resources: [stateMachineArn],
        }),
        new iam.PolicyStatement({
          sid: 'ItsRanges',
          actions: ['states:DescribeExecution', 'states:StopExecution'],
          resources: endings.map((ending) =>
            stack.formatArn({
              service: 'states',
              resource: 'execution',
              resourceName: `${stateMachineName}${ending}`,
              arnFormat: ArnFormat.COLON_RESOURCE_NAME,
            }),
          ),
        }),
      ],
    });
    const machine = this.stateMachine.node.defaultChild;
    if (!CfnElement.isCfnElement(machine)) return;
    const executions = `arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:<${stack.getLogicalId(machine)}.Name>`;
    for (const ending of endings)
      Validations.of(policy).acknowledge({
        id: `AwsSolutions-IAM5[Resource::${executions}${ending}]`,
        reason: 'Its own executions, and those of its ranges; their ids are made up as they start.',
      });
  }

  #schedule({ integration, unstarted }: BaselineFanOutProps): void {
    const role = new iam.Role(this, 'ScheduleRole', {
      assumedBy: new iam.ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
      inlinePolicies: {
        start: new iam.PolicyDocument({
          statements: [
            new iam.PolicyStatement({
              actions: ['states:StartExecution'],
              resources: [this.stateMachine.stateMachineArn],
            }),
            new iam.PolicyStatement({
              actions: ['sqs:SendMessage'],
              resources: [unstarted.queueArn],
            }),
          ],
        }),
      },
    });
    new scheduler.Schedule(this, 'Schedule', {
      description: `Reads the rest of the baseline of ${integration}, if any`,
      schedule: scheduler.ScheduleExpression.rate(Duration.hours(1)),
      target: new StepFunctionsStartExecution(this.stateMachine, {
        role: role.withoutPolicyUpdates(),
        retryAttempts: 3,
        maxEventAge: Duration.hours(1),
        deadLetterQueue: unstarted,
      }),
    });
  }
}
