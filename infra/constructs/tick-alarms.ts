import type { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { metrics } from '../../lambda/names.ts';
import { metricOf } from './metric.ts';
import { OperationsAlarm } from './operations-alarm.ts';

export interface TickAlarmsProps {
  readonly integration: string;
  readonly poll: lambda.IFunction;
  /** Between two ticks. */
  readonly period: Duration;
  readonly topic: sns.ITopic;
}

const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD, LESS_THAN_THRESHOLD } = cloudwatch.ComparisonOperator;
const { BREACHING, NOT_BREACHING } = cloudwatch.TreatMissingData;
const { SUM, MAXIMUM } = cloudwatch.Stats;

/** Tells operations, within about three ticks, that an integration's changes are not announced. */
export class TickAlarms extends Construct {
  /** Those that somebody has to get up for: subscribers are not told of what happens. */
  readonly urgent: readonly cloudwatch.IAlarm[];

  constructor(scope: Construct, id: string, { integration, poll, period, topic }: TickAlarmsProps) {
    super(scope, id);
    const logs = `the logs of the poll function of ${integration}`;
    const metric = (name: string, statistic: string) =>
      metricOf(integration, name, { statistic, period });
    const once = {
      topic,
      comparisonOperator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: NOT_BREACHING,
    };
    // One lost tick is made up for by the next; three of five is not bad luck.
    const repeatedly = { ...once, datapointsToAlarm: 3, evaluationPeriods: 5 };

    const failing = new OperationsAlarm(this, 'Failing', {
      ...repeatedly,
      metric: poll.metricErrors({ period }),
      says: `Ticks of ${integration} are failing.`,
      impact: 'changes at the partner are announced late; none is lost.',
      likely:
        'credentials refused, integration not provisioned, partner down, ledger or topics denied.',
      toDo: `read the newest error in ${logs}; it says what to do.`,
    });

    const silent = new OperationsAlarm(this, 'NoCompletedTick', {
      topic,
      metric: metric(metrics.ticksCompleted, SUM),
      comparisonOperator: LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 3,
      // No data is the very thing to be told about: a tick that does not run counts nothing.
      treatMissingData: BREACHING,
      says: `No tick of ${integration} has completed for three periods.`,
      impact: 'nothing is announced; what has been committed goes out later, none is lost.',
      likely:
        'schedule disabled, integration paused, credentials refused (the partner is then left alone for up to an hour), function throttled or failing, ticks that run out of time.',
      toDo: 'look at the schedule, the function and its logs, and the queue of ticks that did not start.',
    });

    const undelivered = new OperationsAlarm(this, 'Undelivered', {
      ...repeatedly,
      metric: metric(metrics.eventsUndelivered, MAXIMUM),
      says: `Events of ${integration} are not accepted by SNS.`,
      impact: 'subscribers or people are not told; every tick tries again, none is lost.',
      likely: 'a topic or its key denied to the poll function, SNS disturbed.',
      toDo: `read "event refused" and "digest refused" in ${logs}: they have SNS's code.`,
    });

    new OperationsAlarm(this, 'Undeliverable', {
      ...once,
      metric: metric(metrics.eventsUndeliverable, MAXIMUM),
      says: `SNS has refused events of ${integration} for good.`,
      impact: 'subscribers are not told of these; they are kept, and all others go out.',
      likely: 'a record that no message can carry; a fault of this program.',
      toDo: `read "event undeliverable" in ${logs}: it has SNS's code and the event's id.`,
    });

    new OperationsAlarm(this, 'Held', {
      ...once,
      metric: metric(metrics.eventsHeld, SUM),
      says: `So much has changed at once at ${integration} that its events are held.`,
      impact: 'they are not announced until somebody has looked; none is lost.',
      likely: 'a mass edit, a changed scope, a moved platform; or real news.',
      toDo: 'read the notice on the operations topic: it says how many, of what kind and of whom.',
    });

    new OperationsAlarm(this, 'Quarantined', {
      ...once,
      metric: metric(metrics.recordsQuarantined, MAXIMUM),
      says: `The partner of ${integration} sends a record that is not as documented.`,
      impact: 'that record is not announced until it is mended; all others are.',
      likely: 'missing or mistyped fields at the partner.',
      toDo: `read "record quarantined" in ${logs}, and tell the operator the id and the paths.`,
    });

    this.urgent = [failing, silent, undelivered];
  }
}
