import { Aws, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';

const cloudWatch = new iam.ServicePrincipal('cloudwatch.amazonaws.com');
const fromThisAccount = { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } };

export interface TopicsProps {
  /** Of the events topic. */
  readonly kind: 'standard' | 'fifo';
  /** An existing customer key: one of the app, or the ARN of one whose policy its owner keeps. */
  readonly key: kms.IKey | string | undefined;
  /** Accounts that may subscribe queues and functions of their own, and nothing else, to the events topic. */
  readonly subscriberAccounts: readonly string[];
}

/**
 * The three topics: `events` for machines, `alerts` for people, `operations` for those who run this.
 * Encrypted at rest, reachable over TLS only.
 */
export class Topics extends Construct {
  readonly events: sns.Topic;
  readonly alerts: sns.Topic;
  readonly operations: sns.Topic;
  /** Encrypts the topics, and the queues that they deliver to here. */
  readonly key: kms.IKey;

  constructor(scope: Construct, id: string, { kind, key, subscriberAccounts }: TopicsProps) {
    super(scope, id);
    this.key =
      typeof key === 'string' ? kms.Key.fromKeyArn(this, 'Key', key) : (key ?? this.#newKey());
    // The reason for a customer key: without this statement SNS drops CloudWatch's alarms
    // silently, and the policy of AWS's own key cannot be extended.
    this.key.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'AlarmsToEncryptedTopic',
        principals: [cloudWatch],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
        conditions: fromThisAccount,
      }),
    );

    this.events = this.#topic('Events', {
      displayName: 'Certification events',
      ...(kind === 'fifo' && {
        fifo: true,
        // A group is an assessment, and an event's id belongs to one: duplicates need not be looked
        // for elsewhere, and the topic is not limited to 3,000 messages a second.
        fifoThroughputScope: sns.FifoThroughputScope.MESSAGE_GROUP,
      }),
    });
    this.alerts = this.#topic('Alerts', { displayName: 'Certification alerts' });
    this.operations = this.#topic('Operations', {
      displayName: 'Certification notifier operations',
    });

    // A topic with a policy of its own (TLS only) has no implied permissions: each is stated here.
    this.operations.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'AlarmsMayPublish',
        principals: [cloudWatch],
        actions: ['sns:Publish'],
        resources: [this.operations.topicArn],
        conditions: fromThisAccount,
      }),
    );
    for (const account of subscriberAccounts)
      this.events.addToResourcePolicy(
        new iam.PolicyStatement({
          sid: `SubscriberAccount${account}`,
          principals: [new iam.AccountPrincipal(account)],
          actions: ['sns:Subscribe'],
          resources: [this.events.topicArn],
          // Its own queues and functions. Who may subscribe anything could have personal data mailed
          // to any address, and nobody here would see who reads it.
          conditions: {
            StringEquals: { 'sns:Protocol': ['sqs', 'lambda'] },
            StringLike: { 'sns:Endpoint': `arn:*:*:*:${account}:*` },
          },
        }),
      );
  }

  /**
   * Publish to the three topics, with the key permissions that the CDK's own grant gives.
   *
   * @param beside what else may be done with the key: a role has 10,240 characters, and a statement of its own costs 150
   */
  pollStatements(...beside: readonly string[]): iam.PolicyStatement[] {
    return [
      new iam.PolicyStatement({
        sid: 'Publish',
        actions: ['sns:Publish'],
        resources: [this.events, this.alerts, this.operations].map(({ topicArn }) => topicArn),
      }),
      new iam.PolicyStatement({
        sid: 'PublishEncrypted',
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*', ...beside],
        resources: [this.key.keyArn],
      }),
    ];
  }

  /** Lets the topics send to queues that are encrypted with their key. AWS's own key cannot do that. */
  admitQueues(): void {
    this.key.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'TopicsToEncryptedQueues',
        principals: [new iam.ServicePrincipal('sns.amazonaws.com')],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
        conditions: {
          // Not the topics by name, which depend on this key; each queue's policy names its own.
          ArnLike: {
            'aws:SourceArn': `arn:${Aws.PARTITION}:sns:${Aws.REGION}:${Aws.ACCOUNT_ID}:*`,
          },
        },
      }),
    );
  }

  #newKey(): kms.Key {
    return new kms.Key(this, 'Key', {
      description: 'Encrypts the topics and the queues of certification-notifier at rest',
      enableKeyRotation: true,
      // Queues stay when `keyArn` takes its place: what waits in them can be read with it only.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
  }

  #topic(id: string, props: sns.TopicProps): sns.Topic {
    return new sns.Topic(this, id, {
      ...props,
      masterKey: this.key,
      enforceSSL: true,
      // SHA-256; SNS still signs with SHA-1 unless told otherwise.
      signatureVersion: '2',
    });
  }
}
