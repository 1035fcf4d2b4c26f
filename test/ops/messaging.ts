import {
  CreateTopicCommand,
  GetSubscriptionAttributesCommand,
  ListSubscriptionsByTopicCommand,
  PublishCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { Gate, type Reply } from '../../local/aws/gate.ts';
import { type Access, Clients } from '../../ops/target/access.ts';
import type { Desk } from './desk.ts';

/** SNS and SQS in memory, each behind a gate, with the topic of a deployment's events. */
export class Messaging {
  readonly snsGate = new Gate();
  readonly sqsGate = new Gate();
  sns = new SNSClient();
  sqs = new SQSClient();
  topicArn = '';
  endpoints = { sns: '', sqs: '' };
  #server: FauxqsServer | undefined;

  async open(): Promise<void> {
    this.#server = await startFauxqs({ port: 0, logger: false });
    for (const gate of [this.snsGate, this.sqsGate]) gate.target = this.#server.address;
    this.endpoints = { sns: await this.snsGate.open(), sqs: await this.sqsGate.open() };
    this.sns = new SNSClient(this.access().settings('sns'));
    this.sqs = new SQSClient(this.access().settings('sqs'));
  }

  /** What a command gets of it. */
  access(): Access {
    const { sns, sqs } = this.endpoints;
    const credentials = { accessKeyId: 'duty', secretAccessKey: 'duty' };
    return {
      isLocal: false,
      clients: new Clients(),
      settings: (service) => ({
        ...{ region: 'us-east-1', credentials, endpoint: service === 'sns' ? sns : sqs },
      }),
    };
  }

  async begin(): Promise<void> {
    this.#server?.purgeAll();
    this.snsGate.reset();
    this.sqsGate.reset();
    this.topicArn = await this.topic('prod-events');
  }

  async close(): Promise<void> {
    await Promise.all([this.snsGate.close(), this.sqsGate.close()]);
    await this.#server?.stop();
  }

  async topic(Name: string): Promise<string> {
    return (await this.sns.send(new CreateTopicCommand({ Name }))).TopicArn ?? '';
  }

  async publish(Message: string): Promise<void> {
    await this.sns.send(new PublishCommand({ TopicArn: this.topicArn, Message }));
  }

  /** Subscribes a queue of this name. */
  async subscribe(TopicArn: string, queue: string): Promise<void> {
    const Endpoint = `arn:aws:sqs:us-east-1:000000000000:${queue}`;
    await this.sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint }));
  }

  async queues(): Promise<string[]> {
    return (await this.sqs.send(new ListQueuesCommand({}))).QueueUrls ?? [];
  }

  async subscriptions(TopicArn = this.topicArn) {
    const list = new ListSubscriptionsByTopicCommand({ TopicArn });
    return (await this.sns.send(list)).Subscriptions ?? [];
  }

  async attributes(SubscriptionArn: string | undefined) {
    const get = new GetSubscriptionAttributesCommand({ SubscriptionArn });
    const { Attributes = {} } = await this.sns.send(get);
    return { raw: Attributes.RawMessageDelivery, filter: Attributes.FilterPolicy };
  }

  /** Nothing of a command is left behind. */
  async nothingLeft(): Promise<void> {
    expect(await this.queues()).toEqual([]);
    expect(await this.subscriptions()).toEqual([]);
  }

  /** Answers calls of this operation with the reply. */
  bend(gate: Gate, wanted: string, reply: Reply): void {
    gate.always(async ({ operation, forward }) => (operation === wanted ? reply : forward()));
  }
}

/** SNS and SQS for the desk of a file. Each test begins with the topic alone. */
export function messagingFor(desk: Desk): Messaging {
  const messaging = new Messaging();
  beforeAll(async () => {
    await messaging.open();
    desk.messaging = messaging.endpoints;
  });
  beforeEach(async () => {
    await messaging.begin();
    desk.outputs = { EventsTopicArn: messaging.topicArn };
  });
  afterAll(() => messaging.close());
  return messaging;
}
