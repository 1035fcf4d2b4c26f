import { randomUUID } from 'node:crypto';
import { paginateListSubscriptionsByTopic, SNS } from '@aws-sdk/client-sns';
import { paginateListQueues, QueueDoesNotExist, SQS } from '@aws-sdk/client-sqs';
import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../lambda/clock.ts';
import { OpsError, RetoldError } from '../errors.ts';
import { type Access, calling } from '../target/access.ts';
import { QueueGoneError } from '../target/errors.ts';

/** The command that reads the queue; each command removes leftovers of its own queues. */
export type Owner = 'watch' | 'listen';

const prefixOf = (owner: Owner) => `certification-notifier-${owner}-`;
/** The time until which the queue is in use. Later, a crash has left it behind. */
const expiryTag = (owner: Owner) => `certification-notifier:${owner}-expires`;
/** The topic of the queue: each deployment removes leftovers of its own queues. */
const topicTag = (owner: Owner) => `certification-notifier:${owner}-topic`;
const lifetime = { minutes: 20 };
/** The expiry is put off once less than this is left. */
const reserve = { minutes: 10 };
/** Long polling. */
const waitSeconds = 2;

interface Owned {
  readonly owner: Owner;
  readonly topicArn: string;
}

export interface Subscribed extends Owned {
  /** Only events of this integration. */
  readonly integration: string | undefined;
  /** Only events of these types. */
  readonly types?: readonly string[] | undefined;
  /** As they were published, without SNS's envelope. */
  readonly isRaw: boolean;
}

interface Services {
  readonly sqs: SQS;
  readonly sns: SNS;
}

interface Parts extends Services {
  readonly clock: Clock;
  readonly owner: Owner;
  readonly url: string;
  readonly subscriptionArn: string;
}

/** A message that comes again unless it is deleted. */
export interface QueuedMessage {
  readonly body: string;
  readonly receipt: string;
  /** How often it has been received, this time included. */
  readonly receptions: number;
}

/** A queue for one run of a command, subscribed to the events topic. Nobody else reads it. */
export class TemporaryQueue implements AsyncDisposable {
  readonly #parts: Parts;
  #expires: Temporal.Instant;

  private constructor(parts: Parts, expires: Temporal.Instant) {
    this.#parts = parts;
    this.#expires = expires;
  }

  get subscriptionArn(): string {
    return this.#parts.subscriptionArn;
  }

  /** Creates the queue and subscribes it. If the subscription fails, it removes the queue. */
  static async create(
    access: Access,
    subscribed: Subscribed,
    clock: Clock,
  ): Promise<TemporaryQueue> {
    const services = servicesOf(access);
    const { sqs } = services;
    const expires = clock.now().add(lifetime);
    const { owner, topicArn } = subscribed;
    const { QueueUrl: url = '' } = await calling('sqs:CreateQueue', () =>
      sqs.createQueue({
        QueueName: `${prefixOf(owner)}${randomUUID()}`,
        // Short, since only messages that are read at once are of use.
        Attributes: { MessageRetentionPeriod: '300', SqsManagedSseEnabled: 'true' },
        tags: { [expiryTag(owner)]: expires.toString(), [topicTag(owner)]: topicArn },
      }),
    );
    try {
      const subscriptionArn = await subscribe(services, url, subscribed);
      return new TemporaryQueue({ ...services, clock, owner, url, subscriptionArn }, expires);
    } catch (error) {
      await remove(sqs, url);
      throw error;
    }
  }

  /**
   * Receives messages, hands their bodies over, and deletes them; none, if none has come for a moment. A message that
   * cannot be deleted comes again. @throws the reason of the signal
   */
  async take(stop: AbortSignal, handOver: (body: string) => void): Promise<void> {
    const messages = await this.receive(stop);
    for (const { body } of messages) handOver(body);
    if (messages.length === 0) return;
    const QueueUrl = this.#parts.url;
    const Entries = messages.map(({ receipt: ReceiptHandle }, at) => ({
      Id: String(at),
      ReceiptHandle,
    }));
    const done = { QueueUrl, Entries };
    await this.#calling('sqs:DeleteMessage', (sqs) => sqs.deleteMessageBatch(done));
  }

  /** Receives messages; none, if none has come for a moment. @throws the reason of the signal */
  async receive(stop: AbortSignal, atMost = 10): Promise<QueuedMessage[]> {
    const asked = {
      QueueUrl: this.#parts.url,
      MaxNumberOfMessages: atMost,
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ['ApproximateReceiveCount' as const],
    };
    const { Messages = [] } = await this.#calling(
      'sqs:ReceiveMessage',
      (sqs) => sqs.receiveMessage(asked, { abortSignal: stop }),
      stop,
    );
    return Messages.map(({ Body = '', ReceiptHandle = '', Attributes }) => ({
      body: Body,
      receipt: ReceiptHandle,
      receptions: Number(Attributes?.ApproximateReceiveCount ?? 1),
    }));
  }

  async delete({ receipt: ReceiptHandle }: QueuedMessage): Promise<void> {
    const message = { QueueUrl: this.#parts.url, ReceiptHandle };
    await this.#calling('sqs:DeleteMessage', (sqs) => sqs.deleteMessage(message));
  }

  /** Makes the message come again after so many seconds. */
  async putOff({ receipt: ReceiptHandle }: QueuedMessage, seconds: number): Promise<void> {
    const later = { QueueUrl: this.#parts.url, ReceiptHandle, VisibilityTimeout: seconds };
    await this.#calling('sqs:ChangeMessageVisibility', (sqs) => sqs.changeMessageVisibility(later));
  }

  /** Puts the expiry off if it is near. */
  async keep(): Promise<void> {
    const { clock, owner, url: QueueUrl } = this.#parts;
    const now = clock.now();
    if (Temporal.Instant.compare(this.#expires, now.add(reserve)) > 0) return;
    const next = now.add(lifetime);
    const Tags = { [expiryTag(owner)]: next.toString() };
    await this.#calling('sqs:TagQueue', (sqs) => sqs.tagQueue({ QueueUrl, Tags }));
    this.#expires = next;
  }

  /** @throws QueueGoneError if another run has swept it away */
  #calling<Answer>(
    action: string,
    call: (sqs: SQS) => Promise<Answer>,
    stop?: AbortSignal,
  ): Promise<Answer> {
    const said = (error: unknown) => {
      throw error instanceof QueueDoesNotExist ? new QueueGoneError({ cause: error }) : error;
    };
    return calling(action, () => call(this.#parts.sqs).catch(said), stop);
  }

  /** @throws RetoldError if one of the two could not be removed; the other one is, all the same */
  async [Symbol.asyncDispose](): Promise<void> {
    const { subscriptionArn: SubscriptionArn } = this;
    const { sns, sqs, url, owner } = this.#parts;
    const left: string[] = [];
    const causes: OpsError[] = [];
    const removed = (what: string, work: Promise<unknown>) =>
      work.catch((error) => {
        if (!(error instanceof OpsError)) throw error;
        left.push(what);
        causes.push(error);
      });
    try {
      await removed(
        `the subscription ${SubscriptionArn}`,
        calling('sns:Unsubscribe', () => sns.unsubscribe({ SubscriptionArn })),
      );
    } finally {
      await removed(`the queue ${nameOf(url)}`, remove(sqs, url));
    }
    const [cause] = causes;
    if (cause === undefined) return;
    const whatToDo = `The next run of ${owner} removes that, twenty minutes from now or later.`;
    const told = { ...cause, code: 'left-behind', retryHelps: false, whatToDo };
    throw new RetoldError(`${cause.message} Left behind: ${left.join(', ')}.`, told, cause);
  }
}

/**
 * Removes the leftovers of crashed runs of this command for this topic: queues with their subscriptions, and
 * subscriptions whose queue is gone.
 *
 * @returns how many
 */
export async function sweep(access: Access, owned: Owned, clock: Clock): Promise<number> {
  const { sqs, sns } = servicesOf(access);
  const expired = await expiredQueues(sqs, owned, clock.now());
  const left = new Set(expired.map(nameOf));
  for (const { name, arn: SubscriptionArn } of await subscribedQueues(sns, owned)) {
    // Each queue is looked up, and only now: another run may have begun since the queues were listed.
    if (!left.has(name) && (await isThere(sqs, name))) continue;
    left.add(name);
    await calling('sns:Unsubscribe', () => sns.unsubscribe({ SubscriptionArn }));
  }
  for (const url of expired) await remove(sqs, url);
  return left.size;
}

async function subscribe(
  { sqs, sns }: Services,
  QueueUrl: string,
  { topicArn: TopicArn, integration, types, isRaw }: Subscribed,
): Promise<string> {
  const { Attributes: { QueueArn: Endpoint = '' } = {} } = await calling(
    'sqs:GetQueueAttributes',
    () => sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  const Policy = policy(Endpoint, TopicArn);
  await calling('sqs:SetQueueAttributes', () =>
    sqs.setQueueAttributes({ QueueUrl, Attributes: { Policy } }),
  );
  const filter = {
    ...(integration !== undefined && { integration: [integration] }),
    ...(types !== undefined && { type: types }),
  };
  const Attributes = {
    RawMessageDelivery: String(isRaw),
    ...(Object.keys(filter).length > 0 && { FilterPolicy: JSON.stringify(filter) }),
  };
  const { SubscriptionArn = '' } = await calling('sns:Subscribe', () =>
    sns.subscribe({ TopicArn, Protocol: 'sqs', Endpoint, ReturnSubscriptionArn: true, Attributes }),
  );
  return SubscriptionArn;
}

function policy(queueArn: string, topicArn: string): string {
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Service: 'sns.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Resource: queueArn,
        Condition: { ArnEquals: { 'aws:SourceArn': topicArn } },
      },
    ],
  });
}

async function expiredQueues(
  sqs: SQS,
  { owner, topicArn }: Owned,
  now: Temporal.Instant,
): Promise<string[]> {
  const asked = { QueueNamePrefix: prefixOf(owner) };
  const pages = await calling('sqs:ListQueues', () =>
    Array.fromAsync(paginateListQueues({ client: sqs, pageSize: 100 }, asked)),
  );
  const expired: string[] = [];
  for (const QueueUrl of pages.flatMap(({ QueueUrls = [] }) => QueueUrls)) {
    const { Tags = {} } = await calling('sqs:ListQueueTags', () =>
      sqs.listQueueTags({ QueueUrl }).catch(nothingIfGone),
    );
    const { [expiryTag(owner)]: expires, [topicTag(owner)]: topic } = Tags;
    if (topic !== topicArn || expires === undefined) continue;
    if (Temporal.Instant.compare(expires, now) < 0) expired.push(QueueUrl);
  }
  return expired;
}

async function isThere(sqs: SQS, QueueName: string): Promise<boolean> {
  const { QueueUrl } = await calling('sqs:GetQueueUrl', () =>
    sqs.getQueueUrl({ QueueName }).catch(nothingIfGone),
  );
  return QueueUrl !== undefined;
}

/** Only queues in the topic's account and region, where the command creates them. */
async function subscribedQueues(sns: SNS, { owner, topicArn: TopicArn }: Owned) {
  const [, partition, , region, account] = TopicArn.split(':');
  const prefix = `arn:${partition}:sqs:${region}:${account}:${prefixOf(owner)}`;
  const pages = await calling('sns:ListSubscriptionsByTopic', () =>
    Array.fromAsync(paginateListSubscriptionsByTopic({ client: sns }, { TopicArn })),
  );
  return pages
    .flatMap(({ Subscriptions = [] }) => Subscriptions)
    .filter(({ Endpoint = '' }) => Endpoint.startsWith(prefix))
    .map(({ Endpoint, SubscriptionArn: arn = '' }) => ({
      name: Endpoint?.split(':').at(-1) ?? '',
      arn,
    }));
}

/** Another run may have removed the queue already. */
async function remove(sqs: SQS, QueueUrl: string): Promise<void> {
  await calling('sqs:DeleteQueue', () => sqs.deleteQueue({ QueueUrl }).catch(nothingIfGone));
}

function nothingIfGone(error: unknown): { QueueUrl?: undefined; Tags?: undefined } {
  if (error instanceof QueueDoesNotExist) return {};
  throw error;
}

function servicesOf(access: Access): Services {
  // The URL of a queue only names the queue. The region and the environment decide which endpoint answers.
  const sqs = new SQS({ ...access.settings('sqs'), useQueueUrlAsEndpoint: false });
  return {
    sqs: access.clients.open(sqs),
    sns: access.clients.open(new SNS(access.settings('sns'))),
  };
}

const nameOf = (url: string) => url.slice(url.lastIndexOf('/') + 1);
