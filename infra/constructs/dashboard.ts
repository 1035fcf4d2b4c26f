import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { metrics } from '../../lambda/names.ts';
import type { Ledger } from './ledger.ts';
import { metricOf } from './metric.ts';
import type { Topics } from './topics.ts';

export interface DashboardProps {
  readonly ledger: Ledger;
  readonly topics: Topics;
  readonly passedOn: readonly PassedOn[];
  readonly integrations: readonly DashboardIntegration[];
}

/** A construct that passes events on to a receiver that cannot subscribe to SNS itself. */
export interface PassedOn {
  /** The name of the receiver, as ops know it. */
  readonly to: string;
  /** Seconds. */
  readonly waiting: cloudwatch.Metric;
  /** Events. */
  readonly passed: cloudwatch.Metric;
}

export interface DashboardIntegration {
  readonly name: string;
  /** Runs the ticks. */
  readonly poll: lambda.IFunction;
  /** Alarms that wake somebody. */
  readonly urgentAlarms: readonly cloudwatch.IAlarm[];
}

const { SUM, MAXIMUM, AVERAGE } = cloudwatch.Stats;
const [hour, day] = [Duration.hours(1), Duration.days(1)];
const height = 6;

/** A row of graphs for each question, about all integrations together. */
export class Dashboard extends Construct {
  readonly dashboard: cloudwatch.Dashboard;
  readonly #integrations: readonly DashboardIntegration[];
  readonly #ledger: string;

  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const { ledger, topics, passedOn, integrations } = props;
    this.#integrations = integrations;
    this.#ledger = ledger.table.tableName;
    this.dashboard = new cloudwatch.Dashboard(this, 'Resource', { defaultInterval: day });

    this.#row(
      'Are we up to date?',
      'A tick completes in every period; nothing waits to be delivered; nothing is held.',
      new cloudwatch.AlarmStatusWidget({
        title: 'Alarms that wake somebody',
        alarms: integrations.flatMap(({ urgentAlarms }) => urgentAlarms),
        width: 12,
        height,
      }),
      this.#graph('Ticks completed an hour', this.#each(metrics.ticksCompleted, SUM, hour)),
      this.#graph('Events that wait', [
        ...this.#each(metrics.eventsUndelivered, MAXIMUM, hour, 'undelivered'),
        ...this.#each(metrics.eventsHeld, MAXIMUM, hour, 'held'),
        ...this.#each(metrics.eventsUndeliverable, MAXIMUM, hour, 'undeliverable'),
      ]),
    );
    this.#row(
      'What has changed?',
      'Events that SNS has accepted, each for every subscriber whose filter it passes.',
      new cloudwatch.SingleValueWidget({
        title: 'Events in a day',
        metrics: this.#each(metrics.eventsDelivered, SUM, day),
        width: 12,
        height,
      }),
      this.#graph('Events an hour', this.#each(metrics.eventsDelivered, SUM, hour), 12),
    );
    this.#row(
      'Is the partner well?',
      'Failing ticks, records that are not as documented, days without proof, a total that the days do not explain, credentials refused.',
      this.#graph(
        'Ticks that failed an hour',
        integrations.map(({ name, poll }) =>
          poll.metricErrors({ statistic: SUM, period: hour, label: name }),
        ),
      ),
      this.#graph('Findings at the partner', [
        ...this.#each(metrics.recordsQuarantined, MAXIMUM, hour, 'quarantined'),
        ...this.#each(metrics.unexplainedDifference, MAXIMUM, hour, 'unexplained'),
        ...this.#each(metrics.daysUnproven, MAXIMUM, hour, 'days unproven'),
        ...this.#each(metrics.refused, MAXIMUM, hour, 'refused'),
      ]),
      this.#graph(
        'Duration of a tick',
        integrations.map(({ name, poll }) =>
          poll.metricDuration({ statistic: AVERAGE, period: hour, label: name }),
        ),
      ),
      this.#graph('Requests an hour', this.#each(metrics.partnerRequests, SUM, hour)),
    );
    if (passedOn.length > 0)
      this.#row(
        'Is everything passed on?',
        'To a bus within a minute, to an archive within a quarter of an hour; dead letters have alarms of their own.',
        this.#graph(
          'Seconds that the oldest event has waited',
          passedOn.map(({ to: label, waiting }) => waiting.with({ period: hour, label })),
          12,
        ),
        this.#graph(
          'Events passed on an hour',
          passedOn.map(({ to: label, passed }) => passed.with({ period: hour, label })),
          12,
        ),
      );
    this.#row(
      'What does it cost?',
      'Costs by use, a day. The fixed costs of alarms, custom metrics, keys and secrets come on top.',
      this.#graph(
        'Function: milliseconds',
        integrations.map(({ name, poll }) =>
          poll.metricDuration({ statistic: SUM, period: day, label: name }),
        ),
        8,
      ),
      this.#graph(
        'Ledger: units',
        [
          ledger.table.metricConsumedWriteCapacityUnits({ statistic: SUM, period: day }),
          ledger.table.metricConsumedReadCapacityUnits({ statistic: SUM, period: day }),
        ],
        8,
      ),
      this.#graph(
        'Topics: messages',
        topics.all.map((topic) =>
          topic.metricNumberOfMessagesPublished({ statistic: SUM, period: day }),
        ),
        8,
      ),
    );
  }

  #row(question: string, explanation: string, ...widgets: cloudwatch.IWidget[]): void {
    this.dashboard.addWidgets(
      new cloudwatch.TextWidget({
        markdown: `## ${question}\n${explanation}`,
        width: 24,
        height: 2,
        background: cloudwatch.TextWidgetBackground.TRANSPARENT,
      }),
    );
    this.dashboard.addWidgets(...widgets);
  }

  #graph(title: string, left: cloudwatch.IMetric[], width = 6): cloudwatch.GraphWidget {
    return new cloudwatch.GraphWidget({ title, left, width, height, leftYAxis: { min: 0 } });
  }

  #each(metric: string, statistic: string, period: Duration, what?: string): cloudwatch.Metric[] {
    return this.#integrations.map(({ name }) =>
      metricOf({ integration: name, ledger: this.#ledger }, metric, {
        statistic,
        period,
        label: what === undefined ? name : `${name}: ${what}`,
      }),
    );
  }
}
