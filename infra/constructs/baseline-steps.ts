import { Aws, Duration } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { taskErrors } from '../../lambda/names.ts';

/** A quarter of an hour in all: longer than the lease of a task that has died. */
const slowRetry: sfn.RetryProps = { interval: Duration.minutes(1), backoffRate: 2, maxAttempts: 4 };

/**
 * The steps of the state machine that reads a baseline:
 *
 *   Plan ─▶ Ready? ─▶ Executions ─▶ Alone? ─▶ Ranges (for each: Read ─▶ AllRead? ─▶ Pace ─▶ Read …) ─▶ Complete
 *
 * When a range fails, no further ones are begun, and Complete fails with the names of the ranges that are left.
 *
 * @param tasks the function that all steps run
 * @param atOnce ranges that are read at the same time
 */
export function baselineSteps(
  scope: Construct,
  tasks: lambda.IFunction,
  atOnce: number,
): sfn.IChainable {
  const task = taskOf.bind(undefined, scope, tasks);
  const done = new sfn.Succeed(scope, 'NothingToDo');

  const plan = task('Plan', { task: 'plan' }, { outputPath: '$.Payload' });
  // Two executions at once would read from the partner at twice the agreed pace.
  const executions = new sfn.CustomState(scope, 'Executions', {
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
  executions.addRetry(slowRetry);

  const read = task(
    'Read',
    { task: 'read', atOnce, range: sfn.JsonPath.objectAt('$.range') },
    {
      resultSelector: {
        isDone: sfn.JsonPath.objectAt('$.Payload.isDone'),
        recorded: sfn.JsonPath.objectAt('$.Payload.recorded'),
        waitSeconds: sfn.JsonPath.objectAt('$.Payload.waitSeconds'),
      },
      resultPath: '$.result',
    },
  );
  const pace = new sfn.Wait(scope, 'Pace', {
    comment: 'Until the pace of the partner has room for another request',
    time: sfn.WaitTime.secondsPath('$.result.waitSeconds'),
  });
  // The Map tolerates no failure: after the first one, no further range is begun.
  const ranges = new sfn.DistributedMap(scope, 'Ranges', {
    itemsPath: '$.left',
    itemSelector: { range: sfn.JsonPath.objectAt('$$.Map.Item.Value') },
    maxConcurrency: atOnce,
    // Not Express: such workflows last five minutes at most.
    mapExecutionType: sfn.StateMachineType.STANDARD,
    resultPath: sfn.JsonPath.DISCARD,
  });
  ranges.itemProcessor(
    read.next(
      new sfn.Choice(scope, 'AllRead?')
        .when(
          sfn.Condition.booleanEquals('$.result.isDone', true),
          new sfn.Succeed(scope, 'AllRead', { outputPath: '$.result' }),
        )
        .otherwise(pace.next(read)),
    ),
  );

  const complete = task(
    'Complete',
    { task: 'complete' },
    { outputPath: '$.Payload' },
    // It waits for a tick to end. With whole minutes, each retry would meet the next tick.
    { interval: Duration.seconds(7), backoffRate: 2, maxAttempts: 6 },
  );
  ranges.addCatch(complete, { errors: [sfn.Errors.ALL], resultPath: '$.failure' });
  return plan.next(
    new sfn.Choice(scope, 'Ready?')
      .when(
        sfn.Condition.stringEquals('$.outcome', 'ready'),
        executions.next(
          new sfn.Choice(scope, 'Alone?')
            .when(
              sfn.Condition.numberLessThanEquals('$.executions.running', 1),
              ranges.next(complete),
            )
            .otherwise(done),
        ),
      )
      .otherwise(done),
  );
}

function taskOf(
  scope: Construct,
  tasks: lambda.IFunction,
  id: string,
  payload: Readonly<Record<string, unknown>>,
  results: Pick<sfn.TaskStateBaseProps, 'outputPath' | 'resultSelector' | 'resultPath'>,
  retry = slowRetry,
): LambdaInvoke {
  const task = new LambdaInvoke(scope, id, {
    lambdaFunction: tasks,
    payload: sfn.TaskInput.fromObject({ ...payload }),
    retryOnServiceExceptions: false,
    ...results,
  });
  task.addRetry({ errors: [taskErrors.lasting], maxAttempts: 0 });
  task.addRetry({ errors: [sfn.Errors.ALL], ...retry });
  return task;
}
