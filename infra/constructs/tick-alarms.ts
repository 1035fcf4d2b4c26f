import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct, type IDependable } from 'constructs';
import { conditions } from '../../lambda/condition-table.ts';
import { metrics } from '../../lambda/names.ts';
import { metricOf, type Ticks } from './metric.ts';
import { OperationsAlarm } from './operations-alarm.ts';

export interface TickAlarmsProps extends Ticks {
  /** Runs the ticks. */
  readonly poll: lambda.IFunction;
  /** Starts the ticks. */
  readonly schedule: IDependable;
  /** Between two ticks: whole minutes. */
  readonly period: Duration;
  /** The topics of operations. */
  readonly tells: readonly sns.ITopic[];
}

const { SUM, MAXIMUM } = cloudwatch.Stats;

/**
 * Conditions that last until somebody mends them or decides. Every tick counts them while there are any. No tick counts
 * a zero, since each count costs. So silence is their end, but a few lost ticks are not.
 */
const lasting = [
  ['Undeliverable', 'undeliverable'],
  ['Held', 'held'],
  ['Quarantined', 'quarantined'],
  ['Refused', 'refused'],
  ['Unproven', 'unproven'],
  ['Unexplained', 'unexplained'],
] as const;

/**
 * Tells operations within about three ticks when the ticks of an integration fail, do not run or are not heard. Tells
 * them with the first tick about findings that somebody has to mend or decide.
 */
export class TickAlarms extends Construct {
  /** Alarms that wake somebody: subscribers do not get their events. */
  readonly urgent: readonly cloudwatch.IAlarm[];

  constructor(
    scope: Construct,
    id: string,
    { integration, ledger, poll, schedule, period, tells }: TickAlarmsProps,
  ) {
    super(scope, id);
    const metric = (name: string, statistic: string) =>
      metricOf({ integration, ledger }, name, { statistic, period });
    // The next tick makes up for one lost tick; three of five are no accident.
    const repeatedly = { tells, integration, datapointsToAlarm: 3, evaluationPeriods: 5 };
    const failing = new OperationsAlarm(this, 'Failing', {
      ...repeatedly,
      metric: poll.metricErrors({ period }),
      condition: 'failing',
    });

    const silent = new OperationsAlarm(this, 'NoCompletedTick', {
      tells,
      integration,
      metric: metric(metrics.ticksCompleted, SUM),
      comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: 3,
      // No data is the very reason for this alarm: a tick that does not run counts nothing. CloudWatch looks for older
      // data first, and so may take two or three periods more.
      treatMissingData: cloudwatch.TreatMissingData.BREACHING,
      condition: 'no-completed-tick',
    });
    // The alarm begins with missing data, and so goes off at once, and the pager with it. With this dependency, the
    // first tick is at least on its way by then.
    silent.node.addDependency(schedule);

    const look = Duration.minutes(Math.max(5, period.toMinutes()));
    const undelivered = new OperationsAlarm(this, 'Undelivered', {
      tells,
      integration,
      // For a quarter of an hour in a row, and for two periods at least.
      metric: metric(metrics.eventsUndelivered, MAXIMUM).with({ period: look }),
      evaluationPeriods: Math.max(2, Math.ceil(15 / look.toMinutes())),
      condition: 'undelivered',
    });

    for (const [name, condition] of lasting) {
      const counted = conditions()[condition].metric;
      if (counted)
        new OperationsAlarm(this, name, {
          ...repeatedly,
          metric: metric(counted, MAXIMUM),
          datapointsToAlarm: 1,
          condition,
        });
    }

    new OperationsAlarm(this, 'Throttled', {
      ...repeatedly,
      metric: poll.metricThrottles({ period }),
      condition: 'throttled',
    });

    this.urgent = [failing, silent, undelivered];
  }
}
