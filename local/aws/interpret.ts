import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { TemplateNotUnderstoodError } from './errors.ts';
import { hasLocalMeaning, type Identity, nameProperties } from './identities.ts';
import { Resolver } from './intrinsics.ts';
import { type Understanding, understood } from './resource-properties.ts';
import type { Json, StackPlace, Template } from './template.ts';

/** All resources that will exist locally, as plain data. */
export interface LocalPlan {
  readonly tables: readonly CreateTableCommandInput[];
  readonly topics: readonly {
    name: string;
    arn: string;
    attributes: Record<string, string>;
  }[];
  readonly queues: readonly QueuePlan[];
  readonly subscriptions: readonly {
    topicArn: string;
    protocol: string;
    endpoint: string;
    attributes: Record<string, string>;
  }[];
  readonly keys: readonly { arn: string; policy: string }[];
  readonly secrets: readonly { name: string; arn: string; value: string | GeneratedSecret }[];
  readonly functions: readonly FunctionPlan[];
  /** The name of the function that has a URL; undefined: none has one. */
  readonly functionWithUrl: string | undefined;
  readonly schedules: readonly SchedulePlan[];
  /** A pipe takes from its queue only if a test runs it. */
  readonly pipes: readonly PipePlan[];
  /** Resolves an output of the stack. @throws TemplateNotUnderstoodError if none has that name */
  output(name: string): string;
  /** The value of `Ref` for a logical id: a table's name, a topic's or a secret's ARN, a queue's URL. */
  ref(logicalId: string): string;
}

interface QueuePlan {
  readonly name: string;
  /** The ARN in the template. A foreign queue has another ARN here. */
  readonly arn: string;
  readonly attributes: Record<string, string>;
}

/** A random value, alone or as one key of a JSON object. */
export interface GeneratedSecret {
  readonly template: string | undefined;
  readonly key: string | undefined;
}

export interface FunctionPlan {
  readonly name: string;
  readonly arn: string;
  /** `<file without extension>.<export>` */
  readonly handler: string;
  /** The object key of the code in the bootstrap bucket. The asset manifest maps it to a directory. */
  readonly assetKey: string;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** The most invocations at once; undefined: as many as the account allows. */
  readonly reservedConcurrency?: number | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly logging: { format: string; level: string | undefined; group: string };
}

export interface SchedulePlan {
  readonly name: string;
  readonly arn: string;
  readonly expression: string;
  readonly enabled: boolean;
  readonly functionName: string;
  /** Undefined: EventBridge Scheduler sends its own event. */
  readonly input: string | undefined;
}

export interface PipePlan {
  /** ARN of a queue. */
  readonly source: string;
  readonly batchSize: number;
  /** ARN of its target. */
  readonly target: string;
  readonly inputTemplate: string;
  /** For a bus: each a path into the message. */
  readonly eventBus:
    | { readonly Source: string; readonly DetailType: string; readonly Time: string }
    | undefined;
}

/** A resource whose properties are resolved and checked. */
interface Resource<Properties> extends Identity {
  readonly logicalId: string;
  readonly properties: Properties;
}

/**
 * Turns a synthesized template into the resources that a local run has to create. Pure.
 *
 * @throws TemplateNotUnderstoodError for a resource type, a property or an intrinsic function that matters, but is not
 * interpreted here
 */
export function interpret(template: Template, place: StackPlace): LocalPlan {
  refuseUnknown(template);
  const resolver = new Resolver(template, place);

  const read = <S extends z.ZodObject>(
    logicalId: string,
    properties: Record<string, Json>,
    { acted, leftOut }: Understanding<S>,
  ): z.output<S> => {
    const resolved = Object.entries(properties).flatMap(([property, value]) => {
      const at = `${logicalId}.${property}`;
      if (leftOut.includes(property)) return [];
      if (!(property in acted.shape)) throw new TemplateNotUnderstoodError(at, 'this property');
      const result = resolver.resolve(value, at);
      return result === undefined ? [] : [[property, result] as const];
    });
    const parsed = acted.safeParse(Object.fromEntries(resolved));
    if (parsed.success) return parsed.data;
    throw new TemplateNotUnderstoodError(logicalId, z.prettifyError(parsed.error));
  };
  const of = <S extends z.ZodObject>(kind: Understanding<S>): Resource<z.output<S>>[] =>
    Object.entries(template.Resources)
      .filter(([, { Type }]) => Type === kind.type)
      .map(([logicalId, { Properties }]) => {
        const properties = read(logicalId, Properties, kind);
        return { logicalId, properties, ...resolver.identity(logicalId) };
      });

  const ownQueues = of(understood.queue).map(({ attributes, properties }): QueuePlan => {
    const { QueueName: _, ...settings } = properties;
    const { QueueName = '', Arn = '' } = attributes;
    return { name: QueueName, arn: Arn, attributes: textAttributes(settings) };
  });
  const subscriptions = of(understood.subscription).map(({ properties }) => properties);
  const foreignQueues = queuesOfOthers(
    subscriptions.flatMap(({ Protocol, Endpoint }) => (Protocol === 'sqs' ? [Endpoint] : [])),
    ownQueues,
  );
  const functions = of(understood.lambdaFunction).map((one): FunctionPlan => {
    const { ref: name, attributes, properties } = one;
    const { LogFormat, ApplicationLogLevel, LogGroup } = properties.LoggingConfig;
    return {
      name,
      arn: attributes.Arn ?? '',
      handler: properties.Handler,
      assetKey: properties.Code.S3Key,
      timeoutSeconds: properties.Timeout,
      memoryMb: properties.MemorySize,
      reservedConcurrency: properties.ReservedConcurrentExecutions,
      environment: properties.Environment.Variables,
      logging: {
        format: LogFormat,
        level: ApplicationLogLevel,
        group: LogGroup ?? `/aws/lambda/${name}`,
      },
    };
  });
  const functionAt = (arn: string, at: string, problem: string): string => {
    const target = functions.find((one) => one.arn === arn);
    if (target) return target.name;
    throw new TemplateNotUnderstoodError(at, problem);
  };

  const [functionWithUrl, ...others] = of(understood.functionUrl).map(({ logicalId, properties }) =>
    functionAt(properties.TargetFunctionArn, logicalId, 'a URL of another function'),
  );
  if (others.length > 0) throw new TemplateNotUnderstoodError('the stack', 'several function URLs');

  return {
    tables: of(understood.table).map(({ ref, properties }) => ({
      ...properties,
      TableName: ref,
      BillingMode: 'PAY_PER_REQUEST',
    })),
    topics: of(understood.topic).map(({ ref: arn, attributes, properties }) => {
      const { TopicName: _, ...settings } = properties;
      return { name: attributes.TopicName ?? '', arn, attributes: textAttributes(settings) };
    }),
    queues: [...ownQueues, ...foreignQueues],
    subscriptions: subscriptions.map(({ TopicArn, Protocol, Endpoint, ...settings }) => {
      const foreign = foreignQueues.find(({ arn }) => arn === Endpoint);
      return {
        topicArn: TopicArn,
        protocol: Protocol,
        endpoint: foreign
          ? `arn:aws:sqs:${place.region}:${place.accountId}:${foreign.name}`
          : Endpoint,
        attributes: textAttributes(settings),
      };
    }),
    keys: of(understood.key).map(({ attributes, properties }) => ({
      arn: attributes.Arn ?? '',
      policy: JSON.stringify(properties.KeyPolicy),
    })),
    secrets: of(understood.secret).map(({ logicalId, ref: arn, properties }) => {
      const { Name, SecretString, GenerateSecretString: generated } = properties;
      return {
        name: Name ?? `${place.stackName}-${logicalId}`,
        arn,
        value: SecretString ?? {
          template: generated?.SecretStringTemplate,
          key: generated?.GenerateStringKey,
        },
      };
    }),
    functions,
    functionWithUrl,
    pipes: of(understood.pipe).map(({ properties }) => ({
      source: properties.Source,
      batchSize: properties.SourceParameters.SqsQueueParameters.BatchSize,
      target: properties.Target,
      inputTemplate: properties.TargetParameters.InputTemplate,
      eventBus: properties.TargetParameters.EventBridgeEventBusParameters,
    })),
    schedules: of(understood.schedule).map((one): SchedulePlan => {
      const { logicalId, ref: name, attributes, properties } = one;
      const { ScheduleExpression, State, Target } = properties;
      const problem = 'a target that is no function of this stack';
      return {
        name,
        arn: attributes.Arn ?? '',
        expression: ScheduleExpression,
        enabled: State === 'ENABLED',
        functionName: functionAt(Target.Arn, `${logicalId}.Target`, problem),
        input: Target.Input,
      };
    }),
    output: (name) => {
      const output = template.Outputs[name];
      if (!output) {
        const known = Object.keys(template.Outputs).join(', ') || 'none';
        throw new TemplateNotUnderstoodError(`Outputs.${name}`, `no such output (known: ${known})`);
      }
      return String(resolver.resolve(output.Value, `Outputs.${name}`));
    },
    ref: (logicalId) => resolver.identity(logicalId).ref,
  };
}

/** @throws TemplateNotUnderstoodError for a type that matters, and for a resource with a condition */
function refuseUnknown({ Resources }: Template): void {
  for (const [logicalId, { Type: type, Condition: condition }] of Object.entries(Resources)) {
    if (!hasLocalMeaning(type)) continue;
    if (!nameProperties.has(type))
      throw new TemplateNotUnderstoodError(logicalId, `resource type ${type}`);
    if (condition !== undefined)
      throw new TemplateNotUnderstoodError(logicalId, `the condition ${condition}`);
  }
}

/** A subscribed queue outside of the template is foreign. A queue is created here in its place. */
function queuesOfOthers(endpoints: readonly string[], own: readonly QueuePlan[]): QueuePlan[] {
  const foreign: QueuePlan[] = [];
  for (const arn of new Set(endpoints)) {
    if (own.some((queue) => queue.arn === arn)) continue;
    const [, , , , account, name = ''] = arn.split(':');
    const isTaken = [...own, ...foreign].some((queue) => queue.name === name);
    foreign.push({ name: isTaken ? `${account}-${name}` : name, arn, attributes: {} });
  }
  return foreign;
}

/** SNS and SQS take every attribute as text: booleans and numbers as such, objects as JSON. */
function textAttributes(settings: Record<string, Json | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
    }),
  );
}
