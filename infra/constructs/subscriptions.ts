import { Aws, CfnCondition, CfnResource, Duration, Fn, Stack } from 'aws-cdk-lib';
import type * as iam from 'aws-cdk-lib/aws-iam';
import { CfnPermission } from 'aws-cdk-lib/aws-lambda';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import * as sns from 'aws-cdk-lib/aws-sns';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct, DependencyGroup } from 'constructs';
import { type ExpectedSubscription, endpointName } from '../../lambda/names.ts';
import type { FilterConfig } from '../config/filter.ts';
import { isChat } from '../config/subscription.ts';
import type {
  AddressedConfig,
  ArchiveConfig,
  ChatConfig,
  EventBusConfig,
  NewQueueConfig,
  SubscriptionConfig,
} from '../config.ts';
import { filterPolicyOf } from '../filter-policy.ts';
import { Archive, archiveInPublic } from './archive.ts';
import { Chat, chatInPublic } from './chat.ts';
import type { PassedOn } from './dashboard.ts';
import { DeadLetters } from './dead-letters.ts';
import { Forwarder } from './forwarder.ts';
import { SubscriberQueue } from './subscriber-queue.ts';
import type { Topics } from './topics.ts';

/** The properties of a subscription in SNS. */
interface Subscribed extends Pick<AddressedConfig, 'topic' | 'raw'> {
  readonly protocol: keyof typeof protocols;
  readonly filter?: FilterConfig | undefined;
}

interface Delivery {
  readonly deadLetters: sqs.IQueue;
  /** The name of the subscriber in alarms. */
  readonly name: string;
  /** The role of SNS while it delivers, if the subscriber has no policy of its own. */
  readonly role?: iam.Role;
}

const protocols = {
  email: sns.SubscriptionProtocol.EMAIL,
  'email-json': sns.SubscriptionProtocol.EMAIL_JSON,
  https: sns.SubscriptionProtocol.HTTPS,
  sqs: sns.SubscriptionProtocol.SQS,
  lambda: sns.SubscriptionProtocol.LAMBDA,
  firehose: sns.SubscriptionProtocol.FIREHOSE,
} as const;

/**
 * How long a webhook may be unavailable: about three quarters of an hour, of the hour that SNS allows. SNS's default,
 * three attempts within a minute, is shorter than many deployments.
 */
const webhookRetries: sns.HealthyRetryPolicy = {
  minDelayTarget: Duration.seconds(5),
  maxDelayTarget: Duration.minutes(2),
  numRetries: 32,
  numMinDelayRetries: 4,
  numMaxDelayRetries: 18,
  backoffFunction: sns.BackoffFunction.EXPONENTIAL,
};
/** In the spelling of SNS's documentation; the CDK has it in upper case. */
const backoffFunction = 'exponential';

/** The configured subscriptions, each with dead letters. */
export class Subscriptions extends Construct {
  /** The new queues, by their names in the configuration. */
  readonly newQueues = new Map<string, sqs.IQueue>();
  readonly passedOn: PassedOn[] = [];
  /** Undefined if the configuration has none. */
  readonly archive: s3.Bucket | undefined;
  /** ARNs of all queues with events for readers, new and existing ones. */
  readonly eventQueueArns: string[] = [];
  /** The subscriptions that the self-check looks for, in the order of the configuration. */
  readonly expected: ExpectedSubscription[] = [];
  /** When these exist, a published message reaches all subscribers. */
  readonly all = new DependencyGroup();
  /**
   * The bytes of filters that the self-check is still given: its input is part of the template, and
   * the scheduler takes 256 KB. Further ones are not looked at.
   */
  #roomForFilters = 50_000;
  readonly #topics: Topics;
  readonly #places = new Map<string, CfnCondition>();

  constructor(
    scope: Construct,
    id: string,
    topics: Topics,
    configs: readonly SubscriptionConfig[],
  ) {
    super(scope, id);
    this.#topics = topics;
    if (configs.length > 0) topics.admitQueues();
    for (const config of configs) {
      if (config.protocol === 'event-bus') this.#toBus(config);
      else if (isChat(config)) this.#expectChat(config);
      else if (config.protocol === 'archive') this.archive = this.#toArchive(config);
      else if (typeof config.endpoint === 'string') this.#existing(config, config.endpoint);
      else this.#created(config, config.endpoint);
    }
    const channels = configs.filter(isChat);
    if (channels.length > 0) this.all.add(new Chat(this, 'Chat', { topics, channels }));
  }

  /** Amazon Q subscribes by itself, once to a topic, also for several channels. */
  #expectChat(config: ChatConfig): void {
    const topic = `chat-${config.topic}` as const;
    this.expected.push({ topic, protocol: 'https', name: chatInPublic(config) });
  }

  /**
   * An existing endpoint. The owner of a queue lets the topic in. For a function, the stack does so where it can.
   * Addresses and URLs answer SNS's request to confirm.
   */
  #existing(config: AddressedConfig, endpoint: string): void {
    const { topic, protocol } = config;
    // The id comes from the endpoint, not from its place: a new order of the list must not replace subscriptions.
    const id = `${topic} ${protocol} ${endpointName(protocol, endpoint).replaceAll('/', ' ')}`;
    const { deadLetters, name } = this.#delivery(id, inPublic(protocol, endpoint), topic);
    const subscription = this.#subscribe(id, config, endpoint, { deadLetters, name });
    if (protocol === 'lambda') this.#admitTo(endpoint, id, config, subscription);
    if (topic === 'events' && protocol === 'sqs') this.eventQueueArns.push(endpoint);
  }

  #created(config: AddressedConfig, endpoint: NewQueueConfig): void {
    const { topic } = config;
    const id = `new queue ${endpoint.newQueue}`;
    const delivery = this.#delivery(id, `the queue ${endpoint.newQueue}`, topic);
    const { queue } = new SubscriberQueue(this, id, {
      ...delivery,
      config: endpoint,
      topicArn: delivery.topics[topic].topicArn,
    });
    this.#subscribe(`${topic} ${id}`, config, queue.queueArn, delivery).node.addDependency(queue);
    this.newQueues.set(endpoint.newQueue, queue);
    if (topic === 'events') this.eventQueueArns.push(queue.queueArn);
  }

  /** Events become those of an EventBridge bus. Their `detail` is the CloudEvent. */
  #toBus({ bus, filter }: EventBusConfig): void {
    const id = `event bus ${bus}`;
    const delivery = this.#delivery(id, `the ${id}`);
    const target = { service: 'events', resource: 'event-bus', resourceName: bus };
    const forwarder = new Forwarder(this, id, {
      ...delivery,
      target: Stack.of(this).formatArn(target),
      targetParameters: {
        eventBridgeEventBusParameters: {
          source: '$.body.source',
          detailType: '$.body.type',
          time: '$.body.time',
        },
      },
      actions: ['events:PutEvents'],
      // PutEvents takes 256 KB in a request, and a single event may have as many.
      batchSize: 1,
    });
    this.#forwarded(`events ${id}`, forwarder, filter, delivery);
  }

  /** SNS itself delivers, save from a FIFO topic: there a pipe does. */
  #toArchive({ topic, filter, keepDays }: ArchiveConfig): s3.Bucket {
    const archive = new Archive(this, 'archive', { topics: this.#topics, keepDays });
    const delivery = this.#delivery('archive', archiveInPublic);
    this.passedOn.push(archive);
    if (delivery.fifo) {
      const forwarder = new Forwarder(this, 'to the archive', {
        ...delivery,
        name: `${archiveInPublic}'s stream`,
        target: archive.streamArn,
        actions: ['firehose:PutRecordBatch'],
        batchSize: 10,
      });
      this.#forwarded('events archive', forwarder, filter, delivery);
    } else {
      const subscribed = { topic, protocol: 'firehose', raw: true, filter } as const;
      const role = archive.subscriber();
      this.#subscribe('events archive', subscribed, archive.streamArn, { ...delivery, role });
    }
    return archive.bucket;
  }

  /** The parts of a delivery: the dead letters of a subscriber, and its name for ops. */
  #delivery(id: string, name: string, topic: SubscriptionConfig['topic'] = 'events') {
    const topics = this.#topics;
    const fifo = topic === 'events' && topics.events.fifo;
    const dead = new DeadLetters(this, `${id} dead letters`, { of: name, topics, fifo });
    return { topics, fifo, name, deadLetters: dead.queue };
  }

  #forwarded(
    id: string,
    forwarder: Forwarder,
    filter: FilterConfig | undefined,
    { deadLetters }: Delivery,
  ): void {
    const { queue, to: name } = forwarder;
    const subscribed = { topic: 'events', protocol: 'sqs', raw: true, filter } as const;
    const subscription = this.#subscribe(id, subscribed, queue.queueArn, { deadLetters, name });
    subscription.node.addDependency(queue);
    this.passedOn.push(forwarder);
  }

  #subscribe(
    id: string,
    { topic, protocol, raw, filter }: Subscribed,
    endpoint: string,
    { deadLetters, name, role }: Delivery,
  ): sns.Subscription {
    const { organizations, assessments, integrations } = filter ?? {};
    const filtered = { organizations, assessments, integrations };
    const known = { topic, protocol, endpoint: endpointName(protocol, endpoint), name };
    const bytes = Buffer.byteLength(JSON.stringify(filtered));
    const isShort = bytes <= this.#roomForFilters;
    if (isShort) this.#roomForFilters -= bytes;
    this.expected.push({ ...known, ...(isShort && filtered) });
    const subscription = new sns.Subscription(this, id, {
      topic: this.#topics[topic],
      protocol: protocols[protocol],
      endpoint,
      deadLetterQueue: deadLetters,
      ...(role && { subscriptionRoleArn: role.roleArn }),
      ...(raw && { rawMessageDelivery: raw }),
      ...(protocol === 'https' && {
        deliveryPolicy: {
          healthyRetryPolicy: webhookRetries,
          ...(raw && { requestPolicy: { headerContentType: 'application/json' } }),
        },
      }),
      ...(filter && {
        filterPolicy: Object.fromEntries(
          Object.entries(filterPolicyOf(filter)).map(([attribute, values]) => [
            attribute,
            new sns.SubscriptionFilter([...values]),
          ]),
        ),
      }),
    });
    if (protocol === 'https')
      resourceOf(subscription)?.addPropertyOverride(
        'DeliveryPolicy.healthyRetryPolicy.backoffFunction',
        backoffFunction,
      );
    // The subscription comes after the queue and its policy, since SNS does not repeat a refused delivery.
    subscription.node.addDependency(deadLetters);
    this.all.add(subscription);
    return subscription;
  }

  /** For a function in the account and region of the deployment. The owner of another function lets SNS in. */
  #admitTo(
    functionArn: string,
    id: string,
    { topic }: AddressedConfig,
    subscription: sns.Subscription,
  ): void {
    const [, , , region = '', account = ''] = functionArn.split(':');
    const permission = new CfnPermission(this, `${id} permission`, {
      action: 'lambda:InvokeFunction',
      functionName: functionArn,
      principal: 'sns.amazonaws.com',
      sourceArn: this.#topics[topic].topicArn,
    });
    const isHere = this.#isHere(region, account);
    permission.cfnOptions.condition = isHere;
    // The subscription comes after the permission. `DependsOn` knows no conditions, but a reference in the metadata
    // does.
    const after = Fn.conditionIf(isHere.logicalId, permission.ref, Aws.NO_VALUE);
    resourceOf(subscription)?.addMetadata('After', after);
  }

  /** One condition for each place, since CloudFormation takes 200. */
  #isHere(region: string, account: string): CfnCondition {
    const id = `${region} ${account} is here`;
    const condition =
      this.#places.get(id) ??
      new CfnCondition(this, id, {
        expression: Fn.conditionAnd(
          Fn.conditionEquals(Aws.ACCOUNT_ID, account),
          Fn.conditionEquals(Aws.REGION, region),
        ),
      });
    this.#places.set(id, condition);
    return condition;
  }
}

function resourceOf(subscription: sns.Subscription): CfnResource | undefined {
  const resource = subscription.node.defaultChild;
  return CfnResource.isCfnResource(resource) ? resource : undefined;
}

/** The name of a subscriber in alarms: not a person's address, and no URL, which may hold secrets. */
function inPublic(protocol: AddressedConfig['protocol'], endpoint: string): string {
  switch (protocol) {
    case 'email':
    case 'email-json':
      return `a subscriber by e-mail at ${endpoint.slice(endpoint.indexOf('@') + 1)}`;
    case 'https':
      return `the webhook at ${new URL(endpoint).host}`;
    case 'sqs':
    case 'lambda':
      return endpoint;
  }
}
