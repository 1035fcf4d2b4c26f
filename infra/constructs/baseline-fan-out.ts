import { ArnFormat, Aws, CfnElement, Duration, Stack, Validations } from 'aws-cdk-lib';
import { ComparisonOperator, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import * as scheduler from 'aws-cdk-lib/aws-scheduler';
import { StepFunctionsStartExecution } from 'aws-cdk-lib/aws-scheduler-targets';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { Construct } from 'constructs';
import { taskErrors } from '../../lambda/names.ts';
import { bundled } from './bundling.ts';
import type { Ledger } from './ledger.ts';
import { OperationsAlarm } from './operations-alarm.ts';
import type { Topics } from './topics.ts';

export interface BaselineFanOutProps {
  /** Name of the integration. */
  readonly integration: string;
  /** Tasks that read from the partner at the same time. */
  readonly atOnce: number;
  readonly ledger: Ledger;
  readonly topics: Topics;
  /** Of the integration: the tasks are read beside its ticks. */
  readonly logGroup: logs.ILogGroup;
  /** What the ticks are told, too. */
  readonly environment: Readonly<Record<string, string>>;
  /** Lets the function read the partner's credentials. */
  readonly credentials: readonly iam.PolicyStatement[];
  /** Where the scheduler leaves what it could not start. */
  readonly unstarted: sqs.IQueue;
}

/**
 * The baseline of a large history, read by several tasks at once:
 *
 *   Plan ─▶ Ready? ─▶ Executions ─▶ Alone? ─▶ Stretches (for each: Read ─▶ AllRead? ─▶ …) ─▶ Complete
 *
 * Started every hour until the baseline is completed, and then ends at Ready? each time; or by hand.
 * When a stretch fails, no further ones are begun, and Complete fails with the names of what is left.
 */
export class BaselineFanOut extends Construct {
  readonly stateMachine: sfn.StateMachine;
  readonly #tasks: lambda.Function;

  constructor(scope: Construct, id: string, props: BaselineFanOutProps) {
    super(scope, id);
    this.#tasks = this.#function(props);
    const role = this.#machineRole();
    this.stateMachine = new sfn.StateMachine(this, 'StateMachine', {
      comment: `Reads the baseline of ${props.integration}`,
      definitionBody: sfn.DefinitionBody.fromChainable(this.#definition(props)),
      role: role.withoutPolicyUpdates(),
      logs: { destination: props.logGroup, level: sfn.LogLevel.ALL, includeExecutionData: true },
    });
    Validations.of(this.stateMachine).acknowledge({
      id: 'AwsSolutions-SF2',
      reason: 'A trace of three tasks would show nothing that the history and the logs do not.',
    });
    // What the construct would allow by itself comes with this role's own policy, and more narrowly.
    this.stateMachine.node.tryRemoveChild('DistributedMapPolicy');
    this.#letItSeeItself(role);
    this.#schedule(props);
    new OperationsAlarm(this, 'Failed', {
      topic: props.topics.operations,
      metric: this.stateMachine.metricFailed({ statistic: Stats.SUM, period: Duration.hours(1) }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      says: `The baseline of ${props.integration} could not be read to its end.`,
      impact: 'what is dated before its first day is not announced yet; nothing is lost.',
      likely: 'partner down or too slow for so many requests at once, credentials refused.',
      toDo: "read the execution's error: it names what is left. The next one, within the hour, reads that.",
      runbook: 'baseline-failed',
    });
  }

  #definition({ atOnce }: BaselineFanOutProps): sfn.IChainable {
    const done = new sfn.Succeed(this, 'NothingToDo');

    const plan = this.#task('Plan', { task: 'plan' }, { outputPath: '$.Payload' });
    // Two executions at once would read the partner twice as fast as it was agreed.
    const executions = new sfn.CustomState(this, 'Executions', {
      stateJson: {
        Type: 'Task',
        Resource: `arn:${Aws.PARTITION}:states:::aws-sdk:sfn:listExecutions`,
        Parameters: {
          'StateMachineArn.$': '$$.StateMachine.Id',
          StatusFilter: 'RUNNING',
          MaxResults: 2,
        },
        ResultSelector: { 'running.$': 'States.ArrayLength($.Executions)' },
        ResultPath: '$.executions',
      },
    });

    const read = this.#task(
      'Read',
      { task: 'read', stretch: sfn.JsonPath.objectAt('$.stretch') },
      {
        resultSelector: {
          isDone: sfn.JsonPath.objectAt('$.Payload.isDone'),
          recorded: sfn.JsonPath.objectAt('$.Payload.recorded'),
        },
        resultPath: '$.result',
      },
    );
    // By default no failure is tolerated: after the first one no further stretch is begun.
    const stretches = new sfn.DistributedMap(this, 'Stretches', {
      itemsPath: '$.left',
      itemSelector: { stretch: sfn.JsonPath.objectAt('$$.Map.Item.Value') },
      maxConcurrency: atOnce,
      // Express workflows last five minutes.
      mapExecutionType: sfn.StateMachineType.STANDARD,
      resultPath: sfn.JsonPath.DISCARD,
    });
    stretches.itemProcessor(
      read.next(
        new sfn.Choice(this, 'AllRead?')
          .when(
            sfn.Condition.booleanEquals('$.result.isDone', true),
            new sfn.Succeed(this, 'AllRead', { outputPath: '$.result' }),
          )
          .otherwise(read),
      ),
    );

    const complete = this.#task(
      'Complete',
      { task: 'complete' },
      { outputPath: '$.Payload' },
      // It waits for a tick to end. Whole minutes would find the next one each time.
      { interval: Duration.seconds(7), backoffRate: 2, maxAttempts: 6 },
    );
    stretches.addCatch(complete, { errors: [sfn.Errors.ALL], resultPath: '$.failure' });
    return plan.next(
      new sfn.Choice(this, 'Ready?')
        .when(
          sfn.Condition.stringEquals('$.outcome', 'ready'),
          executions.next(
            new sfn.Choice(this, 'Alone?')
              .when(
                sfn.Condition.numberLessThanEquals('$.executions.running', 1),
                stretches.next(complete),
              )
              .otherwise(done),
          ),
        )
        .otherwise(done),
    );
  }

  #task(
    id: string,
    payload: Readonly<Record<string, unknown>>,
    results: Pick<sfn.TaskStateBaseProps, 'outputPath' | 'resultSelector' | 'resultPath'>,
    // A quarter of an hour in all: longer than the lease of a task that has died.
    retry: sfn.RetryProps = { interval: Duration.minutes(1), backoffRate: 2, maxAttempts: 4 },
  ): LambdaInvoke {
    const task = new LambdaInvoke(this, id, {
      lambdaFunction: this.#tasks,
      payload: sfn.TaskInput.fromObject({ ...payload }),
      retryOnServiceExceptions: false,
      ...results,
    });
    task.addRetry({ errors: [taskErrors.lasting], maxAttempts: 0 });
    task.addRetry({ errors: [sfn.Errors.ALL], ...retry });
    return task;
  }

  #function(props: BaselineFanOutProps): lambda.Function {
    const { integration, ledger, topics, logGroup, environment, credentials } = props;
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        tasks: new iam.PolicyDocument({
          statements: [
            ledger.baselineStatement(),
            ...credentials,
            new iam.PolicyStatement({
              sid: 'TellOperations',
              actions: ['sns:Publish'],
              resources: [topics.operations.topicArn],
            }),
            new iam.PolicyStatement({
              sid: 'TellEncrypted',
              actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
              resources: [topics.key.keyArn],
            }),
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
    return new lambda.Function(this, 'Function', {
      description: `Reads days of the baseline of ${integration}`,
      code: bundled(this, 'fan-out'),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      // docs/decisions/0010-bundles-and-memory.md
      memorySize: 512,
      // For the plan of a very large history; a stretch that takes longer goes on in another one.
      timeout: Duration.minutes(10),
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      environment: { ...environment },
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

  /** What a Distributed Map does to its own state machine: a policy of its own, which comes after it. */
  #letItSeeItself(role: iam.Role): void {
    const { stateMachineArn, stateMachineName } = this.stateMachine;
    const stack = Stack.of(this);
    // AWS's documentation names the first; the executions of stretches look like the second.
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
          sid: 'ItsStretches',
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
        reason:
          'Its own executions, and those of its stretches; their ids are made up as they start.',
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
      description: `Reads what is left of the baseline of ${integration}, if anything`,
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
