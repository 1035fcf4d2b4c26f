import type { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { metricDimension, metricNamespace, metrics } from '../../lambda/names.ts';

export interface TickAlarmsProps {
  readonly integration: string;
  readonly poll: lambda.IFunction;
  /** Between two ticks. */
  readonly period: Duration;
  readonly topic: sns.ITopic;
}

/** Tells operations, within about three ticks, that an integration's changes are not announced. */
export class TickAlarms extends Construct {
  constructor(scope: Construct, id: string, { integration, poll, period, topic }: TickAlarmsProps) {
    super(scope, id);
    const action = new SnsAction(topic);
    const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD, LESS_THAN_THRESHOLD } =
      cloudwatch.ComparisonOperator;

    const failing = new cloudwatch.Alarm(this, 'Failing', {
      metric: poll.metricErrors({ period }),
      comparisonOperator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      // One lost tick is made up for by the next; three of five is not bad luck.
      datapointsToAlarm: 3,
      evaluationPeriods: 5,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      alarmDescription: [
        `Ticks of ${integration} are failing.`,
        'Impact: changes at the partner are announced late; none is lost.',
        'Likely: credentials refused, integration not provisioned, partner down, ledger or topics denied.',
        `Do: read the newest error in the logs of the poll function of ${integration}; it says what to do.`,
      ].join('\n'),
    });

    const silent = new cloudwatch.Alarm(this, 'NoCompletedTick', {
      metric: new cloudwatch.Metric({
        namespace: metricNamespace,
        metricName: metrics.ticksCompleted,
        dimensionsMap: { [metricDimension]: integration },
        statistic: cloudwatch.Stats.SUM,
        period,
      }),
      comparisonOperator: LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 3,
      // No data is the very thing to be told about: a tick that does not run counts nothing.
      treatMissingData: cloudwatch.TreatMissingData.BREACHING,
      alarmDescription: [
        `No tick of ${integration} has completed for three periods.`,
        'Impact: nothing is announced; what has been committed goes out later, none is lost.',
        'Likely: schedule disabled, function throttled or failing, ticks that run out of time.',
        'Do: look at the schedule, the function and its logs, and the queue of ticks that did not start.',
      ].join('\n'),
    });

    for (const alarm of [failing, silent]) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }
}
