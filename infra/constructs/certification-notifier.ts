import { Duration, Validations } from 'aws-cdk-lib';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { NotifierConfig } from '../config.ts';
import { Integration } from './integration.ts';
import { Ledger } from './ledger.ts';
import { Subscriptions } from './subscriptions.ts';
import { Topics } from './topics.ts';

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

  constructor(scope: Construct, id: string, config: NotifierConfig) {
    super(scope, id);
    this.ledger = new Ledger(this, 'Ledger');
    this.topics = new Topics(this, 'Topics', {
      kind: config.topic,
      subscriberAccounts: config.subscriberAccounts,
    });
    this.subscriptions = new Subscriptions(
      this,
      'Subscriptions',
      this.topics,
      config.subscriptions,
    );

    const unstarted = new sqs.Queue(this, 'UnstartedTicks', {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(unstarted).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is the dead-letter queue of the schedules; nothing reads it but people.',
    });

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
          logRetention: config.logRetentionDays,
        }),
      ]),
    );
  }
}
