import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { TemplateNotUnderstoodError } from './errors.ts';
import { hasLocalMeaning, nameProperties } from './identities.ts';
import { Resolver } from './intrinsics.ts';
import * as understood from './resource-properties.ts';
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
  readonly logicalId: string;
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

type Resource = { logicalId: string; properties: Record<string, Json> };

/**
 * Turns a synthesized template into the resources that a local run has to create. Pure.
 *
 * @throws TemplateNotUnderstoodError for a resource type, a property or an intrinsic function that matters, but is not
 * interpreted here
 */
export function interpret(template: Template, place: StackPlace): LocalPlan {
  const resolver = new Resolver(template, place);
  const resources = readable(template);
  const of = (...types: string[]) => types.flatMap((type) => resources.get(type) ?? []);

  const read = <S extends z.ZodObject>(
    { logicalId, properties }: Resource,
    { acted, leftOut }: understood.Understanding<S>,
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

  const ownQueues = of('AWS::SQS::Queue').map((resource): QueuePlan => {
    const { RedrivePolicy, QueueName: _, ...settings } = read(resource, understood.queue);
    const { QueueName, Arn } = resolver.identity(resource.logicalId).attributes;
    return {
      name: QueueName ?? '',
      arn: Arn ?? '',
      attributes: textAttributes({ ...settings, RedrivePolicy }),
    };
  });
  const subscriptions = of('AWS::SNS::Subscription').map((resource) =>
    read(resource, understood.subscription),
  );
  const foreignQueues = queuesOfOthers(
    subscriptions.flatMap(({ Protocol, Endpoint }) => (Protocol === 'sqs' ? [Endpoint] : [])),
    ownQueues,
  );
  const functions = of('AWS::Lambda::Function').map((resource): FunctionPlan => {
    const properties = read(resource, understood.lambdaFunction);
    const { ref: name, attributes } = resolver.identity(resource.logicalId);
    return {
      logicalId: resource.logicalId,
      name,
      arn: attributes.Arn ?? '',
      handler: properties.Handler,
      assetKey: properties.Code.S3Key,
      timeoutSeconds: properties.Timeout,
      memoryMb: properties.MemorySize,
      reservedConcurrency: properties.ReservedConcurrentExecutions,
      environment: properties.Environment?.Variables ?? {},
      logging: {
        format: properties.LoggingConfig?.LogFormat ?? 'Text',
        level: properties.LoggingConfig?.ApplicationLogLevel,
        group: properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`,
      },
    };
  });

  const urls = of('AWS::Lambda::Url').map((resource) => {
    const { TargetFunctionArn } = read(resource, understood.functionUrl);
    const target = functions.find(({ arn }) => arn === TargetFunctionArn);
    if (target) return target.name;
    throw new TemplateNotUnderstoodError(resource.logicalId, 'a URL of another function');
  });
  if (urls.length > 1) throw new TemplateNotUnderstoodError('the stack', 'several function URLs');

  return {
    tables: of('AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table').map((resource) => ({
      ...read(resource, understood.table),
      TableName: resolver.identity(resource.logicalId).ref,
      BillingMode: 'PAY_PER_REQUEST',
    })),
    topics: of('AWS::SNS::Topic').map((resource) => {
      const { TopicName: _, ...settings } = read(resource, understood.topic);
      const { ref: arn, attributes } = resolver.identity(resource.logicalId);
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
    keys: of('AWS::KMS::Key').map((resource) => ({
      arn: resolver.identity(resource.logicalId).attributes.Arn ?? '',
      policy: JSON.stringify(read(resource, understood.key).KeyPolicy),
    })),
    secrets: of('AWS::SecretsManager::Secret').map((resource) => {
      const { Name, SecretString, GenerateSecretString } = read(resource, understood.secret);
      return {
        name: Name ?? `${place.stackName}-${resource.logicalId}`,
        arn: resolver.identity(resource.logicalId).ref,
        value: SecretString ?? {
          template: GenerateSecretString?.SecretStringTemplate,
          key: GenerateSecretString?.GenerateStringKey,
        },
      };
    }),
    functions,
    functionWithUrl: urls[0],
    pipes: of('AWS::Pipes::Pipe').map((resource) => {
      const { Source, SourceParameters, Target, TargetParameters } = read(
        resource,
        understood.pipe,
      );
      return {
        source: Source,
        batchSize: SourceParameters.SqsQueueParameters.BatchSize,
        target: Target,
        inputTemplate: TargetParameters.InputTemplate,
        eventBus: TargetParameters.EventBridgeEventBusParameters,
      };
    }),
    schedules: of('AWS::Scheduler::Schedule').flatMap((resource): SchedulePlan[] => {
      const properties = read(resource, understood.schedule);
      const { ref: name, attributes } = resolver.identity(resource.logicalId);
      const target = functions.find(({ arn }) => arn === properties.Target.Arn);
      if (!target) {
        throw new TemplateNotUnderstoodError(
          `${resource.logicalId}.Target`,
          'a target that is no function of this stack',
        );
      }
      return [
        {
          name,
          arn: attributes.Arn ?? '',
          expression: properties.ScheduleExpression,
          enabled: properties.State === 'ENABLED',
          functionName: target.name,
          input: properties.Target.Input,
        },
      ];
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

/** The resources that exist locally, by type. */
function readable(template: Template): Map<string, Resource[]> {
  const byType = new Map<string, Resource[]>();
  for (const [logicalId, resource] of Object.entries(template.Resources)) {
    const { Type: type, Condition: condition, Properties: properties } = resource;
    if (!hasLocalMeaning(type)) continue;
    if (!(type in nameProperties)) {
      throw new TemplateNotUnderstoodError(logicalId, `resource type ${type}`);
    }
    if (condition !== undefined) {
      throw new TemplateNotUnderstoodError(logicalId, `the condition ${condition}`);
    }
    byType.set(type, [...(byType.get(type) ?? []), { logicalId, properties }]);
  }
  return byType;
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
