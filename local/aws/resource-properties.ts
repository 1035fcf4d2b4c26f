import * as z from 'zod';

/**
 * For each resource type that exists locally: the property that gives its physical name, the properties that a local run
 * acts on, and the properties of our stack that it ignores, because nothing on one machine depends on them. Any other
 * property is an error, so that a new feature of the stack is not silently missing.
 */
export interface Understanding<S extends z.ZodObject> {
  readonly type: string;
  readonly named: string | undefined;
  readonly acted: S;
  readonly leftOut: readonly string[];
}

function understanding<S extends z.ZodObject>(
  type: string,
  named: (keyof S['shape'] & string) | undefined,
  acted: S,
  leftOut: readonly string[],
): Understanding<S> {
  return { type, named, acted, leftOut: [...leftOut, 'Tags'] };
}

const name = z.string().optional();
const keySchema = z.array(
  z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }),
);

export const understood = {
  /** Streams are missing on purpose: the embedded DynamoDB has none. */
  table: understanding(
    'AWS::DynamoDB::GlobalTable',
    'TableName',
    z.object({
      TableName: name,
      AttributeDefinitions: z.array(
        z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) }),
      ),
      KeySchema: keySchema,
      GlobalSecondaryIndexes: z
        .array(
          z.object({
            IndexName: z.string(),
            KeySchema: keySchema,
            Projection: z.object({
              ProjectionType: z.enum(['ALL', 'INCLUDE', 'KEYS_ONLY']),
              NonKeyAttributes: z.array(z.string()).optional(),
            }),
          }),
        )
        .optional(),
    }),
    ['BillingMode', 'Replicas', 'SSESpecification'],
  ),

  topic: understanding(
    'AWS::SNS::Topic',
    'TopicName',
    z.object({
      TopicName: name,
      DisplayName: z.string().optional(),
      FifoTopic: z.boolean().optional(),
      ContentBasedDeduplication: z.boolean().optional(),
      // Nothing is encrypted here; the attribute is only shown.
      KmsMasterKeyId: z.string().optional(),
    }),
    ['FifoThroughputScope', 'SignatureVersion'],
  ),

  subscription: understanding(
    'AWS::SNS::Subscription',
    undefined,
    z.object({
      TopicArn: z.string(),
      Protocol: z.string(),
      Endpoint: z.string(),
      FilterPolicy: z.record(z.string(), z.json()).optional(),
      FilterPolicyScope: z.enum(['MessageAttributes', 'MessageBody']).optional(),
      RawMessageDelivery: z.boolean().optional(),
      RedrivePolicy: z.record(z.string(), z.json()).optional(),
    }),
    ['DeliveryPolicy', 'Region', 'SubscriptionRoleArn'],
  ),

  queue: understanding(
    'AWS::SQS::Queue',
    'QueueName',
    z.object({
      QueueName: name,
      FifoQueue: z.boolean().optional(),
      ContentBasedDeduplication: z.boolean().optional(),
      MessageRetentionPeriod: z.number().optional(),
      VisibilityTimeout: z.number().optional(),
      RedrivePolicy: z.record(z.string(), z.json()).optional(),
    }),
    ['DeduplicationScope', 'FifoThroughputLimit', 'KmsMasterKeyId', 'SqsManagedSseEnabled'],
  ),

  /** The policy decides nothing here; it can only be read. */
  key: understanding('AWS::KMS::Key', undefined, z.object({ KeyPolicy: z.json() }), [
    'Description',
    'EnableKeyRotation',
  ]),

  secret: understanding(
    'AWS::SecretsManager::Secret',
    'Name',
    z.object({
      Name: name,
      SecretString: z.string().optional(),
      GenerateSecretString: z
        .looseObject({
          SecretStringTemplate: z.string().optional(),
          GenerateStringKey: z.string().optional(),
        })
        .optional(),
    }),
    ['Description'],
  ),

  lambdaFunction: understanding(
    'AWS::Lambda::Function',
    'FunctionName',
    z.object({
      FunctionName: name,
      Handler: z.string(),
      Runtime: z.string().startsWith('nodejs'),
      Code: z.looseObject({ S3Key: z.string() }),
      Timeout: z.number().default(3),
      MemorySize: z.number().default(128),
      ReservedConcurrentExecutions: z.number().optional(),
      Environment: z
        .looseObject({ Variables: z.record(z.string(), z.coerce.string()) })
        .default({ Variables: {} }),
      LoggingConfig: z
        .looseObject({
          LogFormat: z.enum(['JSON', 'Text']).default('Text'),
          ApplicationLogLevel: z.string().optional(),
          LogGroup: z.string().optional(),
        })
        .default({ LogFormat: 'Text' }),
    }),
    ['Architectures', 'Description', 'Role'],
  ),

  /** Only a URL that everybody may call, and whose answer comes as a whole. */
  functionUrl: understanding(
    'AWS::Lambda::Url',
    undefined,
    z.object({ TargetFunctionArn: z.string(), AuthType: z.literal('NONE') }),
    [],
  ),

  schedule: understanding(
    'AWS::Scheduler::Schedule',
    'Name',
    z.object({
      Name: name,
      ScheduleExpression: z.string(),
      State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
      Target: z.looseObject({ Arn: z.string(), Input: z.string().optional() }),
    }),
    ['Description', 'FlexibleTimeWindow', 'ScheduleExpressionTimezone'],
  ),

  pipe: understanding(
    'AWS::Pipes::Pipe',
    'Name',
    z.object({
      Name: name,
      Source: z.string(),
      SourceParameters: z.object({ SqsQueueParameters: z.object({ BatchSize: z.number() }) }),
      Target: z.string(),
      TargetParameters: z.object({
        InputTemplate: z.string(),
        EventBridgeEventBusParameters: z
          .object({ Source: z.string(), DetailType: z.string(), Time: z.string() })
          .optional(),
      }),
    }),
    ['Description', 'RoleArn'],
  ),
};
