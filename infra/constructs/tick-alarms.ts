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

    const metric = (metricName: string, statistic: string) =>
      new cloudwatch.Metric({
        namespace: metricNamespace,
        metricName,
        dimensionsMap: { [metricDimension]: integration },
        statistic,
        period,
      });

    const silent = new cloudwatch.Alarm(this, 'NoCompletedTick', {
      metric: metric(metrics.ticksCompleted, cloudwatch.Stats.SUM),
      comparisonOperator: LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 3,
      // No data is the very thing to be told about: a tick that does not run counts nothing.
      treatMissingData: cloudwatch.TreatMissingData.BREACHING,
      alarmDescription: [
        `No tick of ${integration} has completed for three periods.`,
        'Impact: nothing is announced; what has been committed goes out later, none is lost.',
        'Likely: schedule disabled, integration paused, credentials refused (the partner is then left alone for up to an hour), function throttled or failing, ticks that run out of time.',
        'Do: look at the schedule, the function and its logs, and the queue of ticks that did not start.',
      ].join('\n'),
    });

    const undelivered = new cloudwatch.Alarm(this, 'Undelivered', {
      metric: metric(metrics.eventsUndelivered, cloudwatch.Stats.MAXIMUM),
      comparisonOperator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      datapointsToAlarm: 3,
      evaluationPeriods: 5,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      alarmDescription: [
        `Events of ${integration} are not accepted by SNS.`,
        'Impact: subscribers or people are not told; every tick tries again, none is lost.',
        'Likely: a topic or its key denied to the poll function, SNS disturbed, an event larger than SNS takes.',
        `Do: read "event refused" and "digest refused" in the logs of the poll function of ${integration}: they have SNS's code.`,
      ].join('\n'),
    });

    const held = new cloudwatch.Alarm(this, 'Held', {
      metric: metric(metrics.eventsHeld, cloudwatch.Stats.SUM),
      comparisonOperator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      alarmDescription: [
        `So much has changed at once at ${integration} that its events are held.`,
        'Impact: they are not announced until somebody has looked; none is lost.',
        'Likely: a mass edit, a changed scope, a moved platform; or real news.',
        'Do: read the notice on the operations topic: it says how many, of what kind and of whom.',
      ].join('\n'),
    });

    const quarantined = new cloudwatch.Alarm(this, 'Quarantined', {
      metric: metric(metrics.recordsQuarantined, cloudwatch.Stats.MAXIMUM),
      comparisonOperator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      alarmDescription: [
        `The partner of ${integration} sends a record that is not as documented.`,
        'Impact: that record is not announced until it is mended; all others are.',
        'Likely: missing or mistyped fields at the partner.',
        `Do: read "record quarantined" in the logs of the poll function of ${integration}, and tell the operator the id and the paths.`,
      ].join('\n'),
    });

    for (const alarm of [failing, silent, undelivered, held, quarantined]) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }
}
