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
import { Gate } from '../../local/aws/gate.ts';
import { type Access, type AwsService, Clients } from '../../ops/target/access.ts';
import { event } from '../consumer/events.ts';
import { credentials, type Desk } from './desk.ts';

/** SNS and SQS in memory, each behind a gate, with the topic of a deployment's events. */
export class Messaging {
  readonly snsGate = new Gate();
  readonly sqsGate = new Gate();
  sns = new SNSClient();
  sqs = new SQSClient();
  topicArn = '';
  readonly published = event();
  endpoints = { sns: '', sqs: '' };
  #server: FauxqsServer | undefined;

  async open(): Promise<void> {
    this.#server = await startFauxqs({ port: 0, logger: false });
    for (const gate of [this.snsGate, this.sqsGate]) gate.target = this.#server.address;
    this.endpoints = { sns: await this.snsGate.open(), sqs: await this.sqsGate.open() };
    this.sns = new SNSClient(this.access().settings('sns'));
    this.sqs = new SQSClient(this.access().settings('sqs'));
  }

  /** The access of a command to it. */
  access(): Access {
    const common = { region: 'us-east-1', credentials };
    const endpointOf = (service: AwsService) => this.endpoints[service === 'sns' ? 'sns' : 'sqs'];
    const settings = (service: AwsService) => ({ ...common, endpoint: endpointOf(service) });
    return { isLocal: false, clients: new Clients(), settings };
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

  async publish(Message = JSON.stringify(this.published)): Promise<void> {
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
