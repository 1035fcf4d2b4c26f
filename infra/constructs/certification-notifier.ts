import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { NotifierConfig } from '../config.ts';
import { Dashboard } from './dashboard.ts';
import { Integration } from './integration.ts';
import { Ledger } from './ledger.ts';
import { Subscriptions } from './subscriptions.ts';
import { Topics } from './topics.ts';
import { UnstartedTicks } from './unstarted-ticks.ts';

/**
 * The whole notifier: one ledger and three topics, shared; a secret, a poll function and a schedule
 * for each integration.
 */
export class CertificationNotifier extends Construct {
  readonly ledger: Ledger;
  readonly topics: Topics;
  readonly subscriptions: Subscriptions;
  /** By the integration's name. */
  readonly integrations: ReadonlyMap<string, Integration>;
  /** Undefined: the configuration wants none. */
  readonly dashboard: cloudwatch.Dashboard | undefined;

  constructor(scope: Construct, id: string, config: NotifierConfig) {
    super(scope, id);
    this.ledger = new Ledger(this, 'Ledger');
    this.topics = new Topics(this, 'Topics', {
      kind: config.topic,
      keyArn: config.keyArn,
      subscriberAccounts: config.subscriberAccounts,
    });
    this.subscriptions = new Subscriptions(
      this,
      'Subscriptions',
      this.topics,
      config.subscriptions,
    );

    const unstarted = new UnstartedTicks(this, 'UnstartedTicks', this.topics);

    const pager =
      config.pagerTopicArn === undefined
        ? undefined
        : sns.Topic.fromTopicArn(this, 'Pager', config.pagerTopicArn);

    this.integrations = new Map(
      config.integrations.map((integration) => [
        integration.name,
        new Integration(this, integration.name, {
          config: integration,
          alerts: config.alerts,
          ledger: this.ledger,
          topics: this.topics,
          eventQueueArns: this.subscriptions.eventQueueArns,
          unstarted,
          pager,
          logRetention: config.logRetentionDays,
        }),
      ]),
    );

    if (config.dashboard)
      this.dashboard = new Dashboard(this, 'Dashboard', {
        ledger: this.ledger,
        topics: this.topics,
        integrations: [...this.integrations].map(([name, integration]) => ({
          name,
          poll: integration.function,
          urgentAlarms: integration.urgentAlarms,
        })),
      }).dashboard;
  }
}
