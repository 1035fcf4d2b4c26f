import * as z from 'zod';

/**
 * For each resource type that exists locally: the properties that a local run acts on, and the properties that it
 * ignores, because nothing on one machine depends on them. Any other property is an error, so that a new feature of the
 * stack is not silently missing.
 */
export interface Understanding<S extends z.ZodObject> {
  readonly acted: S;
  readonly leftOut: readonly string[];
}

function understanding<S extends z.ZodObject>(acted: S, leftOut: string[]): Understanding<S> {
  return { acted, leftOut: [...leftOut, 'Tags'] };
}

const keySchema = z.array(
  z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }),
);
const index = z.object({
  IndexName: z.string(),
  KeySchema: keySchema,
  Projection: z.object({
    ProjectionType: z.enum(['ALL', 'INCLUDE', 'KEYS_ONLY']),
    NonKeyAttributes: z.array(z.string()).optional(),
  }),
});

/** Streams are missing on purpose: the embedded DynamoDB has none. */
export const table = understanding(
  z.object({
    TableName: z.string().optional(),
    AttributeDefinitions: z.array(
      z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) }),
    ),
    KeySchema: keySchema,
    GlobalSecondaryIndexes: z.array(index).optional(),
    LocalSecondaryIndexes: z.array(index).optional(),
  }),
  [
    'BillingMode',
    'ContributorInsightsSpecification',
    'DeletionProtectionEnabled',
    'OnDemandThroughput',
    'PointInTimeRecoverySpecification',
    'Replicas',
    'ResourcePolicy',
    'SSESpecification',
    'TableClass',
    'TimeToLiveSpecification',
    'WarmThroughput',
    'ReadOnDemandThroughputSettings',
    'WriteOnDemandThroughputSettings',
  ],
);

export const topic = understanding(
  z.object({
    TopicName: z.string().optional(),
    DisplayName: z.string().optional(),
    FifoTopic: z.boolean().optional(),
    ContentBasedDeduplication: z.boolean().optional(),
    // Nothing is encrypted here; the attribute is only shown.
    KmsMasterKeyId: z.string().optional(),
  }),
  [
    'ArchivePolicy',
    'DataProtectionPolicy',
    'DeliveryStatusLogging',
    'FifoThroughputScope',
    'SignatureVersion',
    'TracingConfig',
  ],
);

export const subscription = understanding(
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
);

export const queue = understanding(
  z.object({
    QueueName: z.string().optional(),
    FifoQueue: z.boolean().optional(),
    ContentBasedDeduplication: z.boolean().optional(),
    DelaySeconds: z.number().optional(),
    MaximumMessageSize: z.number().optional(),
    MessageRetentionPeriod: z.number().optional(),
    ReceiveMessageWaitTimeSeconds: z.number().optional(),
    VisibilityTimeout: z.number().optional(),
    RedrivePolicy: z.record(z.string(), z.json()).optional(),
  }),
  [
    'DeduplicationScope',
    'FifoThroughputLimit',
    'KmsDataKeyReusePeriodSeconds',
    'KmsMasterKeyId',
    'RedriveAllowPolicy',
    'SqsManagedSseEnabled',
  ],
);

/** The policy decides nothing here; it can only be read. */
export const key = understanding(z.object({ KeyPolicy: z.json() }), [
  'Description',
  'EnableKeyRotation',
  'Enabled',
  'PendingWindowInDays',
]);

export const secret = understanding(
  z.object({
    Name: z.string().optional(),
    SecretString: z.string().optional(),
    GenerateSecretString: z
      .looseObject({
        SecretStringTemplate: z.string().optional(),
        GenerateStringKey: z.string().optional(),
      })
      .optional(),
  }),
  ['Description', 'KmsKeyId', 'ReplicaRegions'],
);

export const lambdaFunction = understanding(
  z.object({
    FunctionName: z.string().optional(),
    Handler: z.string(),
    Runtime: z.string().startsWith('nodejs'),
    Code: z.looseObject({ S3Key: z.string() }),
    Timeout: z.number().default(3),
    MemorySize: z.number().default(128),
    ReservedConcurrentExecutions: z.number().optional(),
    Environment: z.looseObject({ Variables: z.record(z.string(), z.coerce.string()) }).optional(),
    LoggingConfig: z
      .looseObject({
        LogFormat: z.enum(['JSON', 'Text']).optional(),
        ApplicationLogLevel: z.string().optional(),
        LogGroup: z.string().optional(),
      })
      .optional(),
  }),
  [
    'Architectures',
    'DeadLetterConfig',
    'Description',
    'EphemeralStorage',
    'KmsKeyArn',
    'PackageType',
    'RecursiveLoop',
    'Role',
    'RuntimeManagementConfig',
    'TracingConfig',
  ],
);

/** Only a URL that everybody may call, and whose answer comes as a whole. */
export const functionUrl = understanding(
  z.object({
    TargetFunctionArn: z.string(),
    AuthType: z.literal('NONE'),
    InvokeMode: z.literal('BUFFERED').optional(),
  }),
  ['Cors', 'Qualifier'],
);

export const schedule = understanding(
  z.object({
    Name: z.string().optional(),
    ScheduleExpression: z.string(),
    State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
    Target: z.looseObject({ Arn: z.string(), Input: z.string().optional() }),
  }),
  ['Description', 'FlexibleTimeWindow', 'GroupName', 'KmsKeyArn', 'ScheduleExpressionTimezone'],
);

const eventBusParameters = z.object({
  Source: z.string(),
  DetailType: z.string(),
  Time: z.string(),
});

export const pipe = understanding(
  z.object({
    Name: z.string().optional(),
    Source: z.string(),
    SourceParameters: z.object({ SqsQueueParameters: z.object({ BatchSize: z.number() }) }),
    Target: z.string(),
    TargetParameters: z.object({
      InputTemplate: z.string(),
      EventBridgeEventBusParameters: eventBusParameters.optional(),
    }),
  }),
  ['Description', 'RoleArn'],
);
