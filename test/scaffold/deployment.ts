import { type AttributeValue, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { type NotifierConfigInput, parseConfig } from '../../infra/config.ts';
import type { ConditionName } from '../../lambda/decisions/conditions.ts';
import { type CertificationEvent, certificationEventSchema } from '../../lambda/events/event.ts';
import { ledgerTable } from '../../lambda/names.ts';
import { cachedAssembly } from '../../local/assembly-cache.ts';
import { type Endpoints, IdleEnvironments } from '../../local/aws/function.ts';
import { type AwsCall, Gate } from '../../local/aws/gate.ts';
import { type EmbeddedAws, type LocalFunction, startEmbeddedAws } from '../../local/aws/index.ts';
import { withSettings } from '../../local/function-settings.ts';
import { type PartnerSandbox, startPartnerSandbox } from '../../local/partner-sandbox/index.ts';

const tickLine = z.looseObject({
  outcome: z.string(),
  created: z.int(),
  updated: z.int(),
  quarantined: z.int(),
  delivered: z.int(),
  undelivered: z.int(),
  requests: z.int(),
});

/** An SNS envelope. */
const notice = z
  .object({ Subject: z.string(), Message: z.string() })
  .transform(({ Subject, Message }) => ({ subject: Subject, text: Message }));

export const integration = 'district-a';
/** The template's value. The functions get the gate's. */
const baseUrl = 'https://partner.example.org';
const queue = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;

/** Queues of two systems that want different events, and of people. */
export const queues = {
  everything: queue('everything'),
  oneOrganization: queue('one-organization'),
  people: queue('people'),
  ops: queue('ops'),
};

/** A test's differences from the default deployment. */
export interface DeploymentConfig extends Pick<NotifierConfigInput, 'topic' | 'subscriptions'> {
  readonly integration?: Partial<NotifierConfigInput['integrations'][number]>;
  /** Assessments that the partner has at first. */
  readonly records?: number;
  /** Minutes. Absent: the second look comes with the next tick. */
  readonly withdrawAfter?: number;
}

const soon = 1e-4;
/** The sandbox's world is the same in every test of a file. */
const world = { seed: 7, timeZone: 'UTC' };

type GateName = 'partner' | keyof Endpoints;

/**
 * Gates of closed deployments, reused because their addresses are part of a function's environment.
 */
const gatesLeft: Record<GateName, Gate>[] = [];

/**
 * Environments of functions of closed deployments. A warm function knows its secret, a token, the
 * topic's pace and whether the topic ever accepted anything. It also knows the offset of the
 * partner's clock and the rest of the SDK's allowance of retries. Only tests that change secrets,
 * change answers of SNS or show another time are known to mislead it. A failing DynamoDB reduces the allowance,
 * and successful calls restore it.
 */
interface Warmth {
  readonly idle: IdleEnvironments;
}

const unknowing = (): Warmth => ({ idle: new IdleEnvironments() });
/** The warmth of all deployments of this process, until a test spoils it. */
let warmth = unknowing();

/**
 * All parts between the partner and the subscribers, as deployed: the synthesized stack on embedded
 * AWS, the bundled function, a partner sandbox, and gates in front of all parts that may break.
 * Functions wait the shortest time that chance allows between two attempts.
 */
export class Deployment {
  readonly #onAwsCall: ((call: AwsCall) => void) | undefined;
  readonly #gates: Readonly<Record<GateName, Gate>>;
  #assembly = '';
  #records = 0;
  #withdrawAfter = soon;
  #partnerUrl = '';
  #aws: EmbeddedAws | undefined;
  #sandbox: PartnerSandbox | undefined;
  #sqs: SQSClient | undefined;
  #warmth = warmth;
  #clientSecret = '';
  /** Undefined unless everything has been raised. */
  #secretVersion: string | undefined;
  /** All output of the functions. */
  readonly output: string[] = [];

  /** The organization that one of the two systems asks for. */
  filtered = 0;
  #existingSecret: string | undefined;
  #overrides: Partial<Endpoints> | undefined;

  /** @param onAwsCall called with each call of a function to AWS */
  constructor(onAwsCall?: (call: AwsCall) => void) {
    this.#onAwsCall = onAwsCall;
    const kept = onAwsCall === undefined ? gatesLeft.pop() : undefined;
    this.#gates = kept ?? {
      partner: new Gate(),
      dynamodb: new Gate(onAwsCall),
      sns: new Gate(onAwsCall),
      sqs: new Gate(onAwsCall),
      secretsManager: new Gate(onAwsCall),
      kms: new Gate(onAwsCall),
    };
  }

  get partner(): Gate {
    return this.#gates.partner;
  }

  get sns(): Gate {
    return this.#gates.sns;
  }

  get kms(): Gate {
    return this.#gates.kms;
  }

  get sqs(): Gate {
    return this.#gates.sqs;
  }

  get dynamodb(): Gate {
    return this.#gates.dynamodb;
  }

  /** Gates in front of each AWS service that functions call. */
  get awsGates(): readonly Gate[] {
    const { dynamodb, sns, sqs, secretsManager, kms } = this.#gates;
    return [dynamodb, sns, sqs, secretsManager, kms];
  }

  /** Synthesizes the stack and opens the gates, once for all tests. */
  async build(config: DeploymentConfig = {}): Promise<void> {
    const { topic, subscriptions = [], integration: more, records = 30 } = config;
    this.#records = records;
    this.#withdrawAfter = config.withdrawAfter ?? soon;
    this.filtered = await someOrganization(records);
    const { partner, dynamodb, sns, sqs, secretsManager, kms } = this.#gates;
    this.#partnerUrl = await partner.open();
    this.#overrides = {
      dynamodb: await dynamodb.open(),
      sns: await sns.open(),
      sqs: await sqs.open(),
      secretsManager: await secretsManager.open(),
      kms: await kms.open(),
    };
    const parsed = parseConfig({
      ...(topic && { topic }),
      integrations: [{ name: integration, baseUrl, timeZone: 'UTC', recentDays: 3, ...more }],
      subscriptions: [
        { topic: 'events', protocol: 'sqs', endpoint: queues.everything },
        {
          topic: 'events',
          protocol: 'sqs',
          endpoint: queues.oneOrganization,
          filter: { organizations: [this.filtered], types: ['created', 'test'] },
        },
        { topic: 'alerts', protocol: 'sqs', endpoint: queues.people },
        { topic: 'operations', protocol: 'sqs', endpoint: queues.ops },
        ...subscriptions,
      ],
    });
    this.#existingSecret = more?.secretName;
    this.#assembly = await cachedAssembly(parsed);
  }

  /**
   * A fresh AWS and a fresh partner, with credentials in the secret. Functions stay warm, with
   * their secret, a token of the partner's and the pace of the topic, unless a test has misled them
   * (`Warmth`).
   */
  async raise(): Promise<void> {
    const overrides = this.#overrides;
    if (overrides === undefined) throw new Error('build the deployment first');
    // The gates of the last test are closed.
    this.#sandbox = undefined;
    this.#aws = undefined;
    this.#secretVersion = undefined;
    this.#warmth = warmth;
    const { idle } = warmth;
    this.#sandbox = await startPartnerSandbox({ ...world, records: this.#records });
    this.partner.target = this.#sandbox.url;
    this.#aws = await startEmbeddedAws(this.#assembly, {
      endpointOverrides: (endpoints) => {
        this.#gates.dynamodb.target = endpoints.dynamodb;
        this.#gates.sns.target = endpoints.sns;
        this.#gates.sqs.target = endpoints.sqs;
        this.#gates.secretsManager.target = endpoints.secretsManager;
        this.#gates.kms.target = endpoints.kms;
        return overrides;
      },
      idle,
      random: 0,
      adjust: (plan) =>
        withSettings(plan, () => ({
          baseUrl: this.#partnerUrl,
          withdrawAfter: this.#withdrawAfter,
        })),
      onOutput: ({ text }) => this.output.push(text),
    });
    if (this.#existingSecret !== undefined) this.#aws.secrets.create(this.#existingSecret);
    this.#sqs = new SQSClient(this.#aws.clientConfig('sqs'));
    const { clientId, clientSecret } = this.#sandbox.credentials;
    this.#clientSecret = clientSecret;
    this.fillSecret(JSON.stringify({ client_id: clientId, client_secret: clientSecret }));
    this.#secretVersion = this.#secretNow;
  }

  async strike(): Promise<void> {
    if (this.#hasMisled()) {
      // Idle environments of other tests go with it: a changed secret made their tokens worthless.
      if (warmth === this.#warmth) warmth = unknowing();
      await this.#warmth.idle.end();
    }
    this.output.length = 0;
    this.#sqs?.destroy();
    await this.#aws?.close();
    await this.#sandbox?.close();
    // This comes last: a failed handler may have left calls under way, which still belong to this
    // test.
    for (const gate of this.#all) gate.forget();
  }

  /** Functions of the next test must not reuse their knowledge. */
  #hasMisled(): boolean {
    return (
      this.#secretVersion === undefined ||
      this.#secretVersion !== this.#secretNow ||
      this.#clientSecret !== this.#sandbox?.credentials.clientSecret ||
      this.sns.hasBent ||
      this.partner.hasShownOtherTime
    );
  }

  async dismantle(): Promise<void> {
    if (this.#onAwsCall === undefined) gatesLeft.push(this.#gates);
    else await Promise.all(this.#all.map((gate) => gate.close()));
  }

  get #all(): readonly Gate[] {
    return Object.values(this.#gates);
  }

  get sandbox(): PartnerSandbox {
    if (this.#sandbox === undefined) throw new Error('raise the deployment first');
    return this.#sandbox;
  }

  get aws(): EmbeddedAws {
    if (this.#aws === undefined) throw new Error('raise the deployment first');
    return this.#aws;
  }

  get poll(): LocalFunction {
    const [poll] = this.aws.functions.values();
    if (poll === undefined) throw new Error('the stack has no function');
    return poll;
  }

  get operate(): LocalFunction {
    const operate = this.aws.functions.get(this.aws.output('OperateFunctionDistrictA'));
    if (operate === undefined) throw new Error('the stack has no function for operators');
    return operate;
  }

  /** The assembly's folder. */
  get assembly(): string {
    return this.#assembly;
  }

  /**
   * Stores a secret as ops do while functions are warm: they use their cached secret as long as it
   * works.
   */
  fillSecret(value: string): void {
    this.aws.secrets.put(this.#secretName, value);
  }

  /**
   * Starts the deployment with this secret: functions of an earlier test may have cached another.
   */
  async beginWithSecret(value: string): Promise<void> {
    this.fillSecret(value);
    await Promise.all([...this.aws.functions.values()].map((one) => one.kill()));
  }

  get #secretNow(): string {
    return this.aws.secrets.get(this.#secretName).VersionId;
  }

  get #secretName(): string {
    const name = this.#existingSecret ?? this.aws.secretNames[0];
    if (name === undefined) throw new Error('the stack has no secret');
    return name;
  }

  /** One invocation of the poll function. */
  tick() {
    return this.poll.invoke({});
  }

  /** One tick that must run to its end. */
  async completedTick() {
    const result = await this.tick();
    if (result.outcome !== 'returned')
      throw new Error(`the tick failed: ${JSON.stringify(result)}`);
    return tickLine.parse(result.payload);
  }

  /** Takes the events, raw or in envelopes, out of a queue. */
  async events(arn: string): Promise<CertificationEvent[]> {
    const bodies = (await this.messages(arn)).map(messageOf);
    return bodies.map((body) => certificationEventSchema.parse(JSON.parse(body)));
  }

  /** Takes the messages out of a queue, as they are. */
  async messages(arn: string): Promise<Message[]> {
    return this.#sqs ? drain(this.#sqs, this.aws.queueUrl(arn)) : [];
  }

  async mails(): Promise<string[]> {
    return (await this.messages(queues.people)).map(messageOf);
  }

  /** The notices to ops since the last call. */
  async notices(): Promise<z.output<typeof notice>[]> {
    const envelopes = await this.messages(queues.ops);
    return envelopes.map(({ Body = '' }) => notice.parse(JSON.parse(Body)));
  }

  /** Ends the lease of a killed tick, which lasts a little longer than the tick's time-out. */
  leaseRunsOut(): Promise<void> {
    return this.#alterState('SET lease_until = :past', 'lease_owner', { ':past': { N: '0' } });
  }

  /** No tick has completed since this moment. */
  lastTickWas(at: Temporal.Instant): Promise<void> {
    return this.#alterState('SET heartbeat = :at', 'heartbeat', { ':at': { S: at.toString() } });
  }

  /** The self-check passed at this moment, and none has completed since. */
  lastSelfCheckWas(at: Temporal.Instant): Promise<void> {
    const passed = {
      at: { N: String(at.epochMilliseconds) },
      failed: { M: {} },
      failures: { N: '0' },
    };
    return this.#alterState('SET self_check = :passed', 'heartbeat', { ':passed': { M: passed } });
  }

  /** Ends the minutes for which ticks leave the partner alone after it refused the credentials. */
  backOffEnds(): Promise<void> {
    return this.#alterState('REMOVE back_off', 'back_off');
  }

  /** The condition was told to ops and is still open. */
  conditionLasts(name: ConditionName): Promise<void> {
    const at = { N: String(Date.now()) };
    const told = { M: { at, number: { N: '1' } } };
    const open = { M: { since: at, number: { N: '1' }, told } };
    return this.#alterState(
      'SET #name = :open',
      'heartbeat',
      { ':open': open },
      {
        '#name': `condition:${name}`,
      },
    );
  }

  async #alterState(
    UpdateExpression: string,
    expected: string,
    ExpressionAttributeValues?: Record<string, AttributeValue>,
    ExpressionAttributeNames?: Record<string, string>,
  ): Promise<void> {
    const [TableName] = this.aws.tables;
    const client = new DynamoDBClient(this.aws.clientConfig('dynamodb'));
    await client.send(
      new UpdateItemCommand({
        TableName,
        Key: { [ledgerTable.partitionKey]: { S: `STATE#${integration}` } },
        UpdateExpression,
        ConditionExpression: `attribute_exists(${expected})`,
        ExpressionAttributeNames,
        ExpressionAttributeValues,
      }),
    );
    client.destroy();
  }
}

/** Takes all messages out of a queue. */
export async function drain(sqs: SQSClient, QueueUrl: string): Promise<Message[]> {
  const all: Message[] = [];
  for (;;) {
    const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 });
    const { Messages = [] } = await sqs.send(command);
    if (Messages.length === 0) return all;
    all.push(...Messages);
    const Entries = Messages.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
}

async function someOrganization(records: number): Promise<number> {
  const sandbox = await startPartnerSandbox({ ...world, records });
  await sandbox.close();
  const [assessment] = sandbox.world.assessments();
  if (!assessment?.organization_id) throw new Error('the sandbox has no assessment');
  return assessment.organization_id;
}

function messageOf({ Body = '' }: Message): string {
  const body = JSON.parse(Body);
  return typeof body.Message === 'string' ? body.Message : Body;
}
