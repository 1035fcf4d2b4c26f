import { randomUUID } from 'node:crypto';
import {
  paginateListSubscriptionsByTopic,
  SNSClient,
  SubscribeCommand,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueueTagsCommand,
  paginateListQueues,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
  TagQueueCommand,
} from '@aws-sdk/client-sqs';
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

export interface Subscribed {
  readonly owner: Owner;
  readonly topicArn: string;
  /** Only events of this integration. */
  readonly integration: string | undefined;
  /** Only events of these types. */
  readonly types?: readonly string[] | undefined;
  /** As they were published, without SNS's envelope. */
  readonly isRaw: boolean;
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
  readonly #sqs: SQSClient;
  readonly #sns: SNSClient;
  readonly #clock: Clock;
  readonly #owner: Owner;
  readonly #url: string;
  readonly subscriptionArn: string;
  #expires: Temporal.Instant;

  private constructor(
    parts: { sqs: SQSClient; sns: SNSClient; clock: Clock },
    {
      owner,
      url,
      subscriptionArn,
      expires,
    }: { owner: Owner; url: string; subscriptionArn: string; expires: Temporal.Instant },
  ) {
    this.#sqs = parts.sqs;
    this.#sns = parts.sns;
    this.#clock = parts.clock;
    this.#owner = owner;
    this.#url = url;
    this.subscriptionArn = subscriptionArn;
    this.#expires = expires;
  }

  /** Creates the queue and subscribes it. If the subscription fails, it removes the queue. */
  static async create(
    access: Access,
    subscribed: Subscribed,
    clock: Clock,
  ): Promise<TemporaryQueue> {
    const sqs = sqsClient(access);
    const sns = access.clients.open(new SNSClient(access.settings('sns')));
    const expires = clock.now().add(lifetime);
    const { owner, topicArn } = subscribed;
    const create = new CreateQueueCommand({
      QueueName: `${prefixOf(owner)}${randomUUID()}`,
      // Short, since only messages that are read at once are of use.
      Attributes: { MessageRetentionPeriod: '300', SqsManagedSseEnabled: 'true' },
      tags: { [expiryTag(owner)]: expires.toString(), [topicTag(owner)]: topicArn },
    });
    const { QueueUrl: url = '' } = await calling('sqs:CreateQueue', () => sqs.send(create));
    try {
      const subscriptionArn = await subscribe({ sqs, sns }, url, subscribed);
      return new TemporaryQueue({ sqs, sns, clock }, { owner, url, subscriptionArn, expires });
    } catch (error) {
      await remove(sqs, url);
      throw error;
    }
  }

  /**
   * Receives messages, deletes them, and returns their bodies; none, if none has come for a moment. @throws the reason
   * of the signal
   */
  async take(stop: AbortSignal): Promise<string[]> {
    const messages = await this.receive(stop);
    if (messages.length > 0) {
      const Entries = messages.map(({ receipt }, index) => ({
        Id: String(index),
        ReceiptHandle: receipt,
      }));
      const done = new DeleteMessageBatchCommand({ QueueUrl: this.#url, Entries });
      await calling('sqs:DeleteMessage', () => this.#sqs.send(done).catch(saidIfGone));
    }
    return messages.map(({ body }) => body);
  }

  /** Receives messages; none, if none has come for a moment. @throws the reason of the signal */
  async receive(stop: AbortSignal, atMost = 10): Promise<QueuedMessage[]> {
    const receive = new ReceiveMessageCommand({
      QueueUrl: this.#url,
      MaxNumberOfMessages: atMost,
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ['ApproximateReceiveCount'],
    });
    const { Messages = [] } = await calling(
      'sqs:ReceiveMessage',
      () => this.#sqs.send(receive, { abortSignal: stop }).catch(saidIfGone),
      stop,
    );
    return Messages.map(({ Body = '', ReceiptHandle = '', Attributes }) => ({
      body: Body,
      receipt: ReceiptHandle,
      receptions: Number(Attributes?.ApproximateReceiveCount ?? 1),
    }));
  }

  async delete({ receipt }: QueuedMessage): Promise<void> {
    const done = new DeleteMessageCommand({ QueueUrl: this.#url, ReceiptHandle: receipt });
    await calling('sqs:DeleteMessage', () => this.#sqs.send(done).catch(saidIfGone));
  }

  /** Makes the message come again after so many seconds. */
  async putOff({ receipt }: QueuedMessage, seconds: number): Promise<void> {
    const later = new ChangeMessageVisibilityCommand({
      QueueUrl: this.#url,
      ReceiptHandle: receipt,
      VisibilityTimeout: seconds,
    });
    await calling('sqs:ChangeMessageVisibility', () => this.#sqs.send(later).catch(saidIfGone));
  }

  /** Puts the expiry off if it is near. */
  async keep(): Promise<void> {
    const now = this.#clock.now();
    if (Temporal.Instant.compare(this.#expires, now.add(reserve)) > 0) return;
    const next = now.add(lifetime);
    const Tags = { [expiryTag(this.#owner)]: next.toString() };
    const tag = new TagQueueCommand({ QueueUrl: this.#url, Tags });
    await calling('sqs:TagQueue', () => this.#sqs.send(tag).catch(saidIfGone));
    this.#expires = next;
  }

  /** @throws RetoldError if one of the two could not be removed; the other one is, all the same */
  async [Symbol.asyncDispose](): Promise<void> {
    const unsubscribe = new UnsubscribeCommand({ SubscriptionArn: this.subscriptionArn });
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
        `the subscription ${this.subscriptionArn}`,
        calling('sns:Unsubscribe', () => this.#sns.send(unsubscribe)),
      );
    } finally {
      await removed(`the queue ${nameOf(this.#url)}`, remove(this.#sqs, this.#url));
    }
    const [cause] = causes;
    if (cause === undefined) return;
    const whatToDo = `The next run of ${this.#owner} removes that, twenty minutes from now or later.`;
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
export async function sweep(
  access: Access,
  { owner, topicArn }: Pick<Subscribed, 'owner' | 'topicArn'>,
  clock: Clock,
): Promise<number> {
  const sqs = sqsClient(access);
  const sns = access.clients.open(new SNSClient(access.settings('sns')));
  const expired = await expiredQueues(sqs, { owner, topicArn }, clock.now());
  const left = new Set(expired.map(nameOf));
  for (const { name, arn } of await subscribedQueues(sns, { owner, topicArn })) {
    // Each queue is looked up, and only now: another run may have begun since the queues were listed.
    if (!left.has(name) && (await isThere(sqs, name))) continue;
    left.add(name);
    await calling('sns:Unsubscribe', () =>
      sns.send(new UnsubscribeCommand({ SubscriptionArn: arn })),
    );
  }
  for (const url of expired) await remove(sqs, url);
  return left.size;
}

async function subscribe(
  { sqs, sns }: { sqs: SQSClient; sns: SNSClient },
  QueueUrl: string,
  { topicArn, integration, types, isRaw }: Subscribed,
): Promise<string> {
  const get = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] });
  const { Attributes = {} } = await calling('sqs:GetQueueAttributes', () => sqs.send(get));
  const { QueueArn: Endpoint = '' } = Attributes;
  const allow = new SetQueueAttributesCommand({
    QueueUrl,
    Attributes: { Policy: policy(Endpoint, topicArn) },
  });
  await calling('sqs:SetQueueAttributes', () => sqs.send(allow));
  const filter = {
    ...(integration !== undefined && { integration: [integration] }),
    ...(types !== undefined && { type: types }),
  };
  const command = new SubscribeCommand({
    TopicArn: topicArn,
    Protocol: 'sqs',
    Endpoint,
    ReturnSubscriptionArn: true,
    Attributes: {
      RawMessageDelivery: String(isRaw),
      ...(Object.keys(filter).length > 0 && { FilterPolicy: JSON.stringify(filter) }),
    },
  });
  const { SubscriptionArn = '' } = await calling('sns:Subscribe', () => sns.send(command));
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
  sqs: SQSClient,
  { owner, topicArn }: Pick<Subscribed, 'owner' | 'topicArn'>,
  now: Temporal.Instant,
): Promise<string[]> {
  const urls = await calling('sqs:ListQueues', async () => {
    const pages = paginateListQueues(
      { client: sqs, pageSize: 100 },
      { QueueNamePrefix: prefixOf(owner) },
    );
    const found: string[] = [];
    for await (const { QueueUrls = [] } of pages) found.push(...QueueUrls);
    return found;
  });
  const expired: string[] = [];
  for (const url of urls) {
    const { expires, topic } = await tagsOf(sqs, url, owner);
    if (topic !== topicArn || expires === undefined) continue;
    if (Temporal.Instant.compare(expires, now) < 0) expired.push(url);
  }
  return expired;
}

async function tagsOf(sqs: SQSClient, QueueUrl: string, owner: Owner) {
  const { Tags = {} } = await calling('sqs:ListQueueTags', () =>
    sqs.send(new ListQueueTagsCommand({ QueueUrl })).catch(nothingIfGone),
  );
  return { expires: Tags[expiryTag(owner)], topic: Tags[topicTag(owner)] };
}

async function isThere(sqs: SQSClient, QueueName: string): Promise<boolean> {
  const { QueueUrl } = await calling('sqs:GetQueueUrl', () =>
    sqs.send(new GetQueueUrlCommand({ QueueName })).catch(nothingIfGone),
  );
  return QueueUrl !== undefined;
}

/** Only queues in the topic's account and region, where the command creates them. */
async function subscribedQueues(
  sns: SNSClient,
  { owner, topicArn: TopicArn }: Pick<Subscribed, 'owner' | 'topicArn'>,
) {
  const [, partition, , region, account] = TopicArn.split(':');
  const prefix = `arn:${partition}:sqs:${region}:${account}:${prefixOf(owner)}`;
  return calling('sns:ListSubscriptionsByTopic', async () => {
    const pages = paginateListSubscriptionsByTopic({ client: sns }, { TopicArn });
    const found: { name: string; arn: string }[] = [];
    for await (const { Subscriptions = [] } of pages)
      for (const { Endpoint = '', SubscriptionArn: arn = '' } of Subscriptions)
        if (Endpoint.startsWith(prefix))
          found.push({ name: Endpoint.split(':').at(-1) ?? '', arn });
    return found;
  });
}

/** Another run may have removed the queue already. */
async function remove(sqs: SQSClient, QueueUrl: string): Promise<void> {
  await calling('sqs:DeleteQueue', () =>
    sqs.send(new DeleteQueueCommand({ QueueUrl })).catch(nothingIfGone),
  );
}

/** @throws QueueGoneError for a queue that another run has swept away */
function saidIfGone(error: unknown): never {
  if (error instanceof QueueDoesNotExist) throw new QueueGoneError({ cause: error });
  throw error;
}

function nothingIfGone(error: unknown): { QueueUrl?: undefined; Tags?: undefined } {
  if (error instanceof QueueDoesNotExist) return {};
  throw error;
}

/** The URL of a queue only names the queue. The region and the environment decide which endpoint answers. */
function sqsClient(access: Access): SQSClient {
  const settings = { ...access.settings('sqs'), useQueueUrlAsEndpoint: false };
  return access.clients.open(new SQSClient(settings));
}

const nameOf = (url: string) => url.slice(url.lastIndexOf('/') + 1);
