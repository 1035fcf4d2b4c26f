import { Annotations, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import * as sns from 'aws-cdk-lib/aws-sns';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  ofOtherPlaces,
  outOfReach,
  regionOf,
  ruleOfPlaces,
  runsLocally,
  unusableKey,
  unusableSecrets,
} from '../config/place.ts';
import { isChat } from '../config/subscription.ts';
import { type NotifierConfigInput, parseSettings } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { addOutputs } from '../outputs.ts';
import { channelsOfOthers } from './chat.ts';
import { Dashboard } from './dashboard.ts';
import { newUnstartedTicks } from './dead-letters.ts';
import { DeliveryAlarms } from './delivery-alarms.ts';
import { Integration } from './integration.ts';
import { Ledger } from './ledger.ts';
import { setRunbook } from './runbook.ts';
import { Starter } from './starter.ts';
import { Subscriptions } from './subscriptions.ts';
import { Topics } from './topics.ts';

type IntegrationInput = NotifierConfigInput['integrations'][number];
type OfAStack = 'stackName' | 'permissionsBoundary' | 'terminationProtection' | 'tags';

/** One set of credentials at the partner. */
export interface WatchedIntegration extends IntegrationInput {
  /**
   * The partner's credentials, as `{"client_id": "…", "client_secret": "…"}`, in a secret of the app or one that it
   * looks up. The functions of the integration may then read it, and decrypt it with its `encryptionKey`. The CDK does
   * not know the key of a secret that is looked up by name: see `secretKeyArn`.
   * @default - `secretName`; without that, a new secret, to be filled after the deployment
   */
  readonly secret?: secretsmanager.ISecret | secretsmanager.Secret | undefined;
}

/** The settings, without those of a stack: its name, its tags and its protection. */
export interface CertificationNotifierProps
  extends Omit<NotifierConfigInput, 'integrations' | OfAStack> {
  /**
   * The integrations: one element for each set of credentials at the partner.
   * Allowed: 1 to 22 integrations.
   */
  readonly integrations: readonly WatchedIntegration[];
  /**
   * A key of the same app, instead of a new one. Its policy gets the statements that it needs, unlike the policy of a
   * key that is only named (`keyArn`). If the key is in another stack, its policy cannot learn of `readers` in this
   * one.
   * @default - `keyArn`; without that, a new key
   */
  readonly key?: kms.IKey | undefined;
}

/**
 * The whole notifier, in any stack: one ledger and three topics, which are shared; a secret, functions and a schedule
 * for each integration. It gives no names and no tags, which are up to the stack.
 *
 * @throws ConfigError naming every wrong setting
 */
export class CertificationNotifier extends Construct {
  /** Events, for machines: one message each. */
  readonly events: sns.ITopic;
  /** Digests, for people. */
  readonly alerts: sns.ITopic;
  /** Alarms and notices, for ops. */
  readonly operations: sns.ITopic;
  /** Encrypts the topics and the queues. */
  readonly key: kms.IKey;
  /** The ledger. Kept when the stack is deleted. */
  readonly table: dynamodb.TableV2;
  /** Queues made for subscribers (`newQueue`), by their names in the settings. */
  readonly queues: ReadonlyMap<string, sqs.IQueue>;
  /** Undefined if the settings have none. Kept when the stack is deleted. */
  readonly archive: s3.Bucket | undefined;
  /** By the integration's name. */
  readonly integrations: ReadonlyMap<string, Integration>;
  /** Undefined if the settings have none. */
  readonly dashboard: cloudwatch.Dashboard | undefined;

  constructor(scope: Construct, id: string, props: CertificationNotifierProps) {
    super(scope, id);
    const source = `the configuration of ${this.node.path}`;
    // A caller in JavaScript may pass nothing.
    const { key, ...input }: Partial<CertificationNotifierProps> = props ?? {};
    const settings = parseSettings(input, source);
    const { account } = Stack.of(this);
    const isLocal = this.node.tryGetContext(runsLocally) === true;
    const region = regionOf(Stack.of(this));
    const problems = [
      ...(isLocal ? [] : [...outOfReach(settings), ...ofOtherPlaces(settings, region)]),
      ...(key ? unusableKey(key, settings, { region, account }) : []),
      ...unusableSecrets(settings, { region, account }),
      ...channelsOfOthers(this, settings.subscriptions),
    ];
    if (problems.length > 0) throw new ConfigError(problems, source);
    if (settings.runbookUrl !== undefined) setRunbook(this, settings.runbookUrl);
    ruleOfPlaces(this, settings);
    const ledger = new Ledger(this, 'Ledger');
    const topics = new Topics(this, 'Topics', {
      kind: settings.topic,
      key: key ?? settings.keyArn,
      subscriberAccounts: settings.subscriberAccounts,
      chat: settings.subscriptions.flatMap((one) => (isChat(one) ? one.topic : [])),
    });
    const subscriptions = new Subscriptions(this, 'Subscriptions', topics, settings.subscriptions);
    this.events = topics.events;
    this.alerts = topics.alerts;
    this.operations = topics.operations;
    this.key = topics.key;
    this.table = ledger.table;
    this.queues = subscriptions.newQueues;
    this.archive = subscriptions.archive;

    const unstarted = newUnstartedTicks(this, topics);
    const starter = new Starter(this, 'Starter', unstarted);
    if (!settings.subscriptions.some(({ topic }) => topic === 'operations'))
      Annotations.of(this).addWarningV2(
        'certification-notifier:nobody-on-operations',
        "subscriptions: nobody is subscribed to 'operations': notices and alarms reach nobody. If somebody subscribes in another way, acknowledge this warning.",
      );

    const pager =
      settings.pagerTopicArn === undefined
        ? undefined
        : sns.Topic.fromTopicArn(this, 'Pager', settings.pagerTopicArn);

    new DeliveryAlarms(this, 'Deliveries', {
      topics,
      subscriptions: settings.subscriptions,
      pager,
    });

    this.integrations = new Map(
      settings.integrations.map((integration, position) => [
        integration.name,
        new Integration(this, integration.name, {
          config: integration,
          alerts: settings.alerts,
          ledger,
          topics,
          eventQueueArns: subscriptions.eventQueueArns,
          subscriptions: subscriptions.all,
          unstarted,
          starter,
          // All integrations share the topics. The self-check of the first looks after them, so that ops hear of each
          // failure once.
          expected: position === 0 ? subscriptions.expected : undefined,
          pager,
          logRetention: settings.logRetentionDays,
          reserveConcurrency: settings.reserveConcurrency,
        }),
      ]),
    );

    if (settings.dashboard)
      this.dashboard = new Dashboard(this, 'Dashboard', {
        ledger,
        topics,
        passedOn: subscriptions.passedOn,
        integrations: [...this.integrations].map(([name, integration]) => ({
          name,
          poll: integration.poll,
          urgentAlarms: integration.urgentAlarms,
        })),
      }).dashboard;
  }

  /**
   * The stack's outputs, which `npx certification-notifier --stack` reads. The command line knows a notifier by its
   * stack, so a stack has the outputs of one notifier only.
   *
   * @throws ConfigError when the stack has them already
   */
  addOutputs(): void {
    addOutputs(Stack.of(this), this);
  }

  /**
   * Grants the permissions of the commands that docs/command-line.md lists without further ones.
   *
   * @param grantee gets the permissions in its own policy; `addOutputs` must have been called
   */
  grantOperate(grantee: iam.IGrantable): iam.Grant {
    const integrations = [...this.integrations.values()];
    const allowed = (actions: string[], resourceArns: string[]) =>
      iam.Grant.addToPrincipal({ grantee, actions, resourceArns });
    return allowed(['cloudformation:DescribeStacks'], [Stack.of(this).stackId])
      .combine(
        allowed(
          ['lambda:InvokeFunction'],
          integrations.map(({ operate }) => operate.functionArn),
        ),
      )
      .combine(
        allowed(
          ['scheduler:GetSchedule'],
          integrations.flatMap(({ schedule, selfCheck }) => [
            schedule.scheduleArn,
            selfCheck.scheduleArn,
          ]),
        ),
      );
  }
}
