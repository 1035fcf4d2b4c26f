import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct, type IDependable } from 'constructs';
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
  /** The operations topic. */
  readonly topic: sns.ITopic;
}

const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD, LESS_THAN_THRESHOLD } = cloudwatch.ComparisonOperator;
const { BREACHING, NOT_BREACHING } = cloudwatch.TreatMissingData;
const { SUM, MAXIMUM } = cloudwatch.Stats;

/**
 * Tells operations when ticks of an integration fail, do not run or are not heard, within three ticks or a
 * few more, and of what they find that somebody has to mend or decide, with the first tick that finds it.
 */
export class TickAlarms extends Construct {
  /** Those that somebody has to get up for: subscribers are not told of what happens. */
  readonly urgent: readonly cloudwatch.IAlarm[];

  constructor(
    scope: Construct,
    id: string,
    { integration, ledger, poll, schedule, period, topic }: TickAlarmsProps,
  ) {
    super(scope, id);
    const logs = `the logs of the poll function of ${integration}`;
    const metric = (name: string, statistic: string) =>
      metricOf({ integration, ledger }, name, { statistic, period });
    const once = {
      topic,
      comparisonOperator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: NOT_BREACHING,
    };
    // One lost tick is made up for by the next; three of five is not bad luck.
    const repeatedly = { ...once, datapointsToAlarm: 3, evaluationPeriods: 5 };
    /**
     * Of what lasts until somebody has mended it or decided: every tick that ends counts it while there is
     * any, and no tick counts a zero, which would be paid for. So silence is its end; a few lost ticks are not.
     */
    const lasting = (name: string) => ({
      ...once,
      metric: metric(name, MAXIMUM),
      evaluationPeriods: 5,
      datapointsToAlarm: 1,
    });

    const failing = new OperationsAlarm(this, 'Failing', {
      ...repeatedly,
      metric: poll.metricErrors({ period }),
      says: `Ticks of ${integration} are failing.`,
      impact: 'changes at the partner are announced late; none is lost.',
      likely:
        'credentials refused, integration not provisioned, partner down, ledger or topics denied.',
      toDo: `read the newest error in ${logs}; it says what to do.`,
      runbook: 'failing',
    });

    const silent = new OperationsAlarm(this, 'NoCompletedTick', {
      topic,
      metric: metric(metrics.ticksCompleted, SUM),
      comparisonOperator: LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 3,
      // No data is the very thing to be told about: a tick that does not run counts nothing. CloudWatch
      // looks for older data first, and so may take two or three periods more.
      treatMissingData: BREACHING,
      says: `No tick of ${integration} has completed for three periods or more.`,
      impact: 'nothing is announced; what has been committed goes out later, none is lost.',
      likely:
        'schedule disabled, credentials refused (the partner is then left alone for up to an hour), function throttled or failing, ticks that run out of time.',
      toDo: 'look at the schedule, the function and its logs, and the queue of ticks that did not start.',
      runbook: 'no-completed-tick',
    });
    // It begins with what is missing, and so goes off at once, the pager with it; by then the first tick
    // is at least on its way.
    silent.node.addDependency(schedule);

    const look = Duration.minutes(Math.max(5, period.toMinutes()));
    const undelivered = new OperationsAlarm(this, 'Undelivered', {
      ...once,
      // In every period of a quarter of an hour, and in two at least.
      metric: metric(metrics.eventsUndelivered, MAXIMUM).with({ period: look }),
      evaluationPeriods: Math.max(2, Math.ceil(15 / look.toMinutes())),
      says: `Events of ${integration} have not been accepted by SNS for a quarter of an hour.`,
      impact: 'subscribers or people are not told; every tick tries again, none is lost.',
      likely: 'a topic or its key denied to the poll function, SNS disturbed.',
      toDo: `read "event refused" and "digest refused" in ${logs}: they have SNS's code.`,
      runbook: 'undelivered',
    });

    new OperationsAlarm(this, 'Undeliverable', {
      ...lasting(metrics.eventsUndeliverable),
      says: `SNS has refused events of ${integration} for good.`,
      impact: 'subscribers are not told of these; they are kept, and all others go out.',
      likely: 'a record that no message can carry; a fault of this program.',
      toDo: `read "event undeliverable" in ${logs}: it has SNS's code and the event's id.`,
      runbook: 'undeliverable',
    });

    new OperationsAlarm(this, 'Held', {
      ...lasting(metrics.eventsHeld),
      says: `So much has changed at once at ${integration} that its events are held.`,
      impact: 'they are not announced until somebody has looked; none is lost.',
      likely: 'a mass edit, a changed scope, a moved platform; or real news.',
      toDo: 'read the notice on the operations topic: it says how many, of what kind and of whom.',
      runbook: 'held',
    });

    new OperationsAlarm(this, 'Quarantined', {
      ...lasting(metrics.recordsQuarantined),
      says: `The partner of ${integration} sends a record without a usable id or a valid day.`,
      impact: 'that record is not announced until it is mended; all others are.',
      likely: 'a missing or mistyped id or certified_on at the partner.',
      toDo: `read "record quarantined" in ${logs}, and tell the partner the id and the paths.`,
      runbook: 'quarantined',
    });

    new OperationsAlarm(this, 'Refused', {
      ...lasting(metrics.refused),
      says: `The credentials of ${integration} are missing or refused, or nothing is assigned to it.`,
      impact: 'nothing is announced until that is mended; none is lost.',
      likely:
        'credentials not stored yet, rotated or revoked by the partner; organizations or assessments not assigned.',
      toDo: 'read the notice on the operations topic: it says which it is and whom to ask.',
      runbook: 'refused',
    });

    new OperationsAlarm(this, 'Unproven', {
      ...lasting(metrics.daysUnproven),
      says: `Days of ${integration} have not been proven complete for more than a day.`,
      impact:
        'what these days show is announced; what they may have hidden is not, and nothing of them is called withdrawn.',
      likely: 'a malformed record, or lists that the host sorts in no order that can be relied on.',
      toDo: 'read the notice on the operations topic: it names the days.',
      runbook: 'unproven',
    });

    new OperationsAlarm(this, 'Unexplained', {
      ...lasting(metrics.unexplainedDifference),
      says: `The partner of ${integration} counts other than it shows on all days together.`,
      impact: 'assessments that belong to no day are not announced; all others are.',
      likely: 'assessments without a day, or a total that is not kept up at the partner.',
      toDo: 'read the notice on the operations topic, and compare the numbers of `status`.',
      runbook: 'unexplained',
    });

    new OperationsAlarm(this, 'Throttled', {
      ...repeatedly,
      metric: poll.metricThrottles({ period }),
      says: `Ticks of ${integration} are not started, because others are still running.`,
      impact: 'changes at the partner are announced late; none is lost.',
      likely:
        'ticks that take longer than their period (a slow partner, a long baseline); the reserved concurrency taken away.',
      toDo: 'look at the duration of ticks on the dashboard; a longer `every`, or a fan-out of the baseline, helps.',
      runbook: 'throttled',
    });

    this.urgent = [failing, silent, undelivered];
  }
}
