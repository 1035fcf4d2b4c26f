import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { readAssembly } from './assembly.ts';
import { embeddedDynamoDb } from './dynamodb.ts';
import { AssemblyError } from './errors.ts';
import { type Endpoints, type FunctionOptions, LocalFunction } from './function.ts';
import { interpret, type LocalPlan } from './interpret.ts';
import { close, keepOpen, listenOnLoopback, loopback, refuseWebPages } from './loopback-server.ts';
import { initialValue, SecretStore } from './secret-store.ts';
import { functionUrl, services } from './services.ts';
import { signNotifications } from './sns-signatures.ts';

export type { InvocationResult, LocalFunction, OutputLine } from './function.ts';

export interface EmbeddedAwsOptions extends Pick<FunctionOptions, 'onOutput' | 'idle' | 'random'> {
  /** The stack in the assembly; may be left out if there is only one. */
  readonly stackName?: string;
  /** The region of a stack that has none. Default: us-east-1. */
  readonly region?: string;
  /**
   * URLs for the functions in place of the embedded services' own: a test puts a proxy in between, which injects
   * faults. Called once, when the services listen.
   */
  readonly endpointOverrides?: (
    endpoints: Endpoints,
  ) => Partial<Endpoints> | Promise<Partial<Endpoints>>;
  /** The ports of the services; any free port if absent. */
  readonly ports?: {
    readonly messaging: number;
    readonly dynamodb: number;
    readonly lambda: number;
  };
  /** Replaces resources of the template. */
  readonly adjust?: (plan: LocalPlan) => LocalPlan;
}

/** Also services that only people call. */
interface AllEndpoints extends Endpoints {
  readonly lambda: string;
  readonly cloudFormation: string;
  readonly scheduler: string;
  readonly sts: string;
}

/** The settings of an SDK client for an embedded service. */
interface ClientConfig {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface EmbeddedAws
  extends Pick<LocalPlan, 'output' | 'ref' | 'subscriptions' | 'schedules'> {
  readonly stackName: string;
  readonly region: string;
  readonly accountId: string;
  readonly endpoints: AllEndpoints;
  clientConfig(service: keyof AllEndpoints): ClientConfig;
  /** @param arn of a queue of the template, or of a foreign queue that the template subscribes */
  queueUrl(arn: string): string;
  /** The names of all created resources, in the template's order. */
  readonly tables: readonly string[];
  readonly topics: readonly string[];
  readonly secrets: SecretStore;
  readonly secretNames: readonly string[];
  /** By physical name. */
  readonly functions: ReadonlyMap<string, LocalFunction>;
  /** A further execution environment of a function, for instance to let two ticks overlap. */
  startFunction(name: string, overrides?: Partial<FunctionOptions>): LocalFunction;
  /** Ends the functions and the services. */
  close(): Promise<void>;
}

/** The account of the embedded SNS and SQS, which know no other. */
const accountId = '000000000000';

/**
 * Creates the resources of a synthesized stack on loopback ports, and nothing else. Nothing outlives `close`.
 *
 * @param assemblyDirectory written by `cdk synth` or `app.synth()`
 * @throws AssemblyError, TemplateNotUnderstoodError
 */
export async function startEmbeddedAws(
  assemblyDirectory: string,
  options: EmbeddedAwsOptions = {},
): Promise<EmbeddedAws> {
  const assembly = readAssembly(assemblyDirectory, options.stackName);
  const region = assembly.region ?? options.region ?? 'us-east-1';
  const { stackName, template } = assembly;
  const { onOutput, idle, random } = options;

  await using opened = new AsyncDisposableStack();
  const dynamodb = refuseWebPages(embeddedDynamoDb());
  opened.adopt(dynamodb, close);
  const messaging = buildApp({ logger: false, defaultRegion: region });
  opened.adopt(messaging, (server) => server.close());
  signNotifications(messaging);
  keepOpen(refuseWebPages(messaging.server));
  const secrets = new SecretStore(region, accountId);

  const messagingUrl = await messaging.listen({
    port: options.ports?.messaging ?? 0,
    host: loopback,
  });
  const dynamodbUrl = await listenOnLoopback(dynamodb, options.ports?.dynamodb);
  const clientConfigAt = (endpoint: string): ClientConfig => ({
    endpoint,
    region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });

  const functions = new Map<string, LocalFunction>();
  const urlServer = refuseWebPages(functionUrl(() => functions.get(plan.functionWithUrl ?? '')));
  opened.adopt(urlServer, close);
  const described = interpret(template, {
    stackName,
    region,
    accountId,
    sqsEndpoint: messagingUrl,
    functionUrl: await listenOnLoopback(urlServer),
  });
  const plan = options.adjust?.(described) ?? described;
  await create(plan, clientConfigAt(dynamodbUrl), clientConfigAt(messagingUrl));
  for (const { name, value } of plan.secrets) {
    secrets.create(name);
    secrets.put(name, initialValue(value));
  }

  const server = refuseWebPages(
    services({
      secrets,
      functions,
      schedules: plan.schedules,
      keys: plan.keys,
      stack: {
        name: stackName,
        arn: `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`,
        outputs: Object.fromEntries(
          Object.keys(template.Outputs).map((name) => [name, plan.output(name)]),
        ),
      },
    }),
  );
  opened.adopt(server, close);
  const servicesUrl = await listenOnLoopback(server, options.ports?.lambda);
  const endpoints: AllEndpoints = {
    dynamodb: dynamodbUrl,
    // One server.
    sns: messagingUrl,
    sqs: messagingUrl,
    sts: messagingUrl,
    // Another one.
    secretsManager: servicesUrl,
    kms: servicesUrl,
    lambda: servicesUrl,
    cloudFormation: servicesUrl,
    scheduler: servicesUrl,
  };
  const started = new Set<LocalFunction>();
  opened.defer(async () => {
    await Promise.all([...started].map((running) => running.leave()));
  });
  const functionEndpoints = { ...endpoints, ...(await options.endpointOverrides?.(endpoints)) };
  const startFunction = (name: string, overrides?: Partial<FunctionOptions>) => {
    const functionPlan = plan.functions.find((candidate) => candidate.name === name);
    if (!functionPlan) throw new AssemblyError(`The stack has no function ${name}`);
    const localFunction = new LocalFunction(functionPlan, {
      codeDirectory: assembly.assetDirectory(functionPlan.assetKey),
      region,
      endpoints: functionEndpoints,
      onOutput,
      idle,
      random,
      ...overrides,
    });
    started.add(localFunction);
    return localFunction;
  };
  for (const { name } of plan.functions) functions.set(name, startFunction(name));

  const lifetime = opened.move();
  const { output, ref, subscriptions, schedules } = plan;
  return {
    ...{ output, ref, subscriptions, schedules },
    stackName,
    region,
    accountId,
    endpoints,
    clientConfig: (service) => clientConfigAt(endpoints[service]),
    queueUrl: (arn) => {
      const queue = plan.queues.find((candidate) => candidate.arn === arn);
      if (!queue) throw new AssemblyError(`The stack neither has nor subscribes the queue ${arn}`);
      return `${messagingUrl}/${accountId}/${queue.name}`;
    },
    tables: plan.tables.flatMap(({ TableName }) => TableName ?? []),
    topics: plan.topics.map(({ arn }) => arn),
    secrets,
    secretNames: plan.secrets.map(({ name }) => name),
    functions,
    startFunction,
    close: () => lifetime.disposeAsync(),
  };
}

async function create(plan: LocalPlan, database: ClientConfig, messaging: ClientConfig) {
  const dynamodb = new DynamoDBClient(database);
  const sns = new SNSClient(messaging);
  const sqs = new SQSClient(messaging);
  try {
    await Promise.all([
      ...plan.tables.map((table) => dynamodb.send(new CreateTableCommand(table))),
      ...plan.queues.map(({ name, attributes }) =>
        sqs.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes })),
      ),
      ...plan.topics.map(({ name, attributes }) =>
        sns.send(new CreateTopicCommand({ Name: name, Attributes: attributes })),
      ),
    ]);
    await Promise.all(
      plan.subscriptions.map(({ topicArn, protocol, endpoint, attributes }) =>
        sns.send(
          new SubscribeCommand({
            TopicArn: topicArn,
            Protocol: protocol,
            Endpoint: endpoint,
            Attributes: attributes,
          }),
        ),
      ),
    );
  } finally {
    for (const client of [dynamodb, sns, sqs]) client.destroy();
  }
}
