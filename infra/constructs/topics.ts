import { Aws, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { ChatConfig } from '../config.ts';

const cloudWatch = new iam.ServicePrincipal('cloudwatch.amazonaws.com');
const sha256 = { signatureVersion: '2' } as const;
const fromThisAccount = { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } };

type ChatTopic = ChatConfig['topic'];

/** Topics for chats; nothing else subscribes to them. */
interface ChatTopics {
  readonly alerts?: sns.Topic;
  readonly operations?: sns.Topic;
}

export interface TopicsProps {
  /** The kind of the events topic. */
  readonly kind: 'standard' | 'fifo';
  /** An existing customer key: a key of the app, or the ARN of a key whose policy its owner keeps. */
  readonly key: kms.IKey | string | undefined;
  /** Accounts that may subscribe their own queues and functions to the events topic, and nothing else. */
  readonly subscriberAccounts: readonly string[];
  /** The topics that have chats. */
  readonly chat: readonly ChatTopic[];
}

/**
 * The three topics: `events` for machines, `alerts` for people, `operations` for ops. Encrypted at rest, reachable over
 * TLS only.
 */
export class Topics extends Construct {
  readonly events: sns.Topic;
  readonly alerts: sns.Topic;
  readonly operations: sns.Topic;
  /** Chats have topics of their own, since Amazon Q shows messages of another form than people read in mails. */
  readonly chat: ChatTopics;
  /** The targets of alarms: the operations topic, and its chats. */
  readonly ofOperations: readonly sns.Topic[];
  /** Encrypts the topics, and the queues of this stack that they deliver to. */
  readonly key: kms.IKey;

  constructor(scope: Construct, id: string, props: TopicsProps) {
    super(scope, id);
    const { kind, key, subscriberAccounts, chat } = props;
    this.key =
      typeof key === 'string' ? kms.Key.fromKeyArn(this, 'Key', key) : (key ?? this.#newKey());
    // The reason for a customer key: without this statement, SNS drops CloudWatch's alarms silently, and the policy of
    // AWS's own key cannot be extended.
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
        // A group is an assessment, and an event's id belongs to one. So duplicates occur only within a group, and the
        // topic is not limited to 3,000 messages a second.
        fifoThroughputScope: sns.FifoThroughputScope.MESSAGE_GROUP,
      }),
    });
    this.alerts = this.#topic('Alerts', { displayName: 'Certification alerts' });
    this.operations = this.#topic('Operations', {
      displayName: 'Certification notifier operations',
    });

    this.chat = this.#chatTopics(chat);
    this.ofOperations = [this.operations, ...(this.chat.operations ? [this.chat.operations] : [])];

    // A topic with its own policy (TLS only) has no implied permissions, so each is stated here.
    for (const topic of this.ofOperations)
      topic.addToResourcePolicy(
        new iam.PolicyStatement({
          sid: 'AlarmsMayPublish',
          principals: [cloudWatch],
          actions: ['sns:Publish'],
          resources: [topic.topicArn],
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
          // Only the account's own queues and functions. With other protocols, the account could have personal data
          // mailed to any address, and nobody here would see who reads it.
          conditions: {
            StringEquals: { 'sns:Protocol': ['sqs', 'lambda'] },
            StringLike: { 'sns:Endpoint': `arn:*:*:*:${account}:*` },
          },
        }),
      );
  }

  get all(): readonly sns.Topic[] {
    return [this.events, this.alerts, this.operations, ...Object.values(this.chat)];
  }

  /**
   * Rights to publish to the topics, with the key permissions of the CDK's own grant.
   *
   * @param beside further rights on the key, in the same statement: a role has 10,240 characters, and another statement
   * costs 150
   */
  pollStatements(...beside: readonly string[]): iam.PolicyStatement[] {
    return [
      new iam.PolicyStatement({
        sid: 'Publish',
        actions: ['sns:Publish'],
        resources: this.all.map(({ topicArn }) => topicArn),
      }),
      new iam.PolicyStatement({
        sid: 'PublishEncrypted',
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*', ...beside],
        resources: [this.key.keyArn],
      }),
    ];
  }

  /** Lets the topics send to queues that are encrypted with their key. AWS's own key does not allow that. */
  admitQueues(): void {
    this.key.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'TopicsToEncryptedQueues',
        principals: [new iam.ServicePrincipal('sns.amazonaws.com')],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
        conditions: {
          // Not the topics by name, since they depend on this key; each queue's policy names its topic.
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
      // Queues stay when `keyArn` replaces this key, and only this key can decrypt the messages that wait in them.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
  }

  #chatTopics(names: readonly ChatTopic[]): ChatTopics {
    // AWS does not document whether Amazon Q knows signatures of version 2, so SNS's default is used.
    const topic = (id: string, of: string) =>
      this.#topic(id, { displayName: `Certification ${of}, for chats` }, {});
    return {
      ...(names.includes('alerts') && { alerts: topic('ChatAlerts', 'alerts') }),
      ...(names.includes('operations') && {
        operations: topic('ChatOperations', 'notifier operations'),
      }),
    };
  }

  /** @param signing empty: SNS signs with SHA-1 */
  #topic(id: string, props: sns.TopicProps, signing: sns.TopicProps = sha256): sns.Topic {
    return new sns.Topic(this, id, {
      ...props,
      ...signing,
      masterKey: this.key,
      enforceSSL: true,
    });
  }
}
