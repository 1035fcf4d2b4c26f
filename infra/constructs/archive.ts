import { Aws, CfnElement, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import { CfnDeliveryStream } from 'aws-cdk-lib/aws-kinesisfirehose';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { PassedOn } from './dashboard.ts';
import { OperationsAlarm } from './operations-alarm.ts';
import type { Topics } from './topics.ts';

/** The name of the archive in alarms. */
export const archiveInPublic = 'the archive';

/**
 * The most that Firehose takes with partitions, since queries are faster over few objects. Partitions need 64 MB at
 * least.
 */
const buffer = { intervalInSeconds: 900, sizeInMBs: 64 };
/** Firehose retries for 24 hours, and then gives up. */
const late = Duration.hours(1);
const partitionBy = '{integration:(.source|ltrimstr("urn:certification-notifier:"))}' as const;

export interface ArchiveProps {
  readonly topics: Topics;
  readonly keepDays: number;
}

/**
 * An encrypted bucket with every event, a line each, by day and integration; and the stream that fills it. The day is
 * the arrival of the object's oldest event, in UTC (Firehose, "Custom prefixes").
 */
export class Archive extends Construct implements PassedOn {
  /** Kept when the stack is deleted. */
  readonly bucket: s3.Bucket;
  readonly streamArn: string;
  readonly to = archiveInPublic;
  readonly waiting: cloudwatch.Metric;
  readonly passed: cloudwatch.Metric;

  constructor(scope: Construct, id: string, { topics, keepDays }: ArchiveProps) {
    super(scope, id);
    const bucket = this.#newBucket(topics, keepDays);
    const stream = new CfnDeliveryStream(this, 'Stream', {
      deliveryStreamType: 'DirectPut',
      // With the key of the topics, the deploying role would need the right to make grants on it.
      deliveryStreamEncryptionConfigurationInput: { keyType: 'AWS_OWNED_CMK' },
      extendedS3DestinationConfiguration: {
        bucketArn: bucket.bucketArn,
        roleArn: this.#writer(bucket, topics).roleArn,
        bufferingHints: buffer,
        compressionFormat: 'GZIP',
        encryptionConfiguration: { kmsEncryptionConfig: { awskmsKeyArn: topics.key.keyArn } },
        prefix:
          'events/day=!{timestamp:yyyy-MM-dd}/integration=!{partitionKeyFromQuery:integration}/',
        errorOutputPrefix: 'errors/!{firehose:error-output-type}/day=!{timestamp:yyyy-MM-dd}/',
        dynamicPartitioningConfiguration: { enabled: true },
        processingConfiguration: {
          enabled: true,
          processors: [
            {
              type: 'MetadataExtraction',
              parameters: [
                { parameterName: 'MetadataExtractionQuery', parameterValue: partitionBy },
                { parameterName: 'JsonParsingEngine', parameterValue: 'JQ-1.6' },
              ],
            },
            {
              type: 'AppendDelimiterToRecord',
              parameters: [{ parameterName: 'Delimiter', parameterValue: '\\n' }],
            },
          ],
        },
      },
    });
    this.bucket = bucket;
    this.streamArn = stream.attrArn;
    const metric = (metricName: string, statistic: string) =>
      new cloudwatch.Metric({
        namespace: 'AWS/Firehose',
        metricName,
        dimensionsMap: { DeliveryStreamName: stream.ref },
        statistic,
        period: Duration.minutes(5),
      });
    this.waiting = metric('DeliveryToS3.DataFreshness', cloudwatch.Stats.MAXIMUM);
    this.passed = metric('DeliveryToS3.Records', cloudwatch.Stats.SUM);
    new OperationsAlarm(this, 'Late', {
      tells: topics.ofOperations,
      metric: this.waiting,
      threshold: late.toSeconds(),
      condition: 'archive-late',
      of: this.to,
    });
  }

  #newBucket(topics: Topics, keepDays: number): s3.Bucket {
    // Without versions, so that erased data is really gone.
    const bucket = new s3.Bucket(this, 'Bucket', {
      encryption: s3.BucketEncryption.KMS,
      encryptionKey: topics.key,
      bucketKeyEnabled: true,
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules: [
        {
          expiration: Duration.days(keepDays),
          abortIncompleteMultipartUploadAfter: Duration.days(7),
        },
      ],
    });
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'Data events of CloudTrail show who reads the bucket, and the account decides about them. An access log would be a second bucket to protect.',
    });
    return bucket;
  }

  #writer(bucket: s3.Bucket, topics: Topics): iam.Role {
    const role = new iam.Role(this, 'Writer', {
      assumedBy: new iam.ServicePrincipal('firehose.amazonaws.com', {
        conditions: { StringEquals: { 'sts:ExternalId': Aws.ACCOUNT_ID } },
      }),
      inlinePolicies: {
        Write: new iam.PolicyDocument({
          statements: [
            new iam.PolicyStatement({
              sid: 'WriteObjects',
              actions: ['s3:AbortMultipartUpload', 's3:GetObject', 's3:PutObject'],
              resources: [bucket.arnForObjects('*')],
            }),
            new iam.PolicyStatement({
              sid: 'LookAtBucket',
              actions: ['s3:GetBucketLocation', 's3:ListBucket', 's3:ListBucketMultipartUploads'],
              resources: [bucket.bucketArn],
            }),
            new iam.PolicyStatement({
              sid: 'EncryptObjects',
              actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
              resources: [topics.key.keyArn],
              conditions: {
                StringEquals: { 'kms:ViaService': `s3.${Aws.REGION}.${Aws.URL_SUFFIX}` },
              },
            }),
          ],
        }),
      },
    });
    const { defaultChild } = bucket.node;
    if (CfnElement.isCfnElement(defaultChild))
      Validations.of(role).acknowledge({
        id: `AwsSolutions-IAM5[Resource::<${Stack.of(this).getLogicalId(defaultChild)}.Arn>/*]`,
        reason: 'Firehose gives each object a name of its own; the bucket has nothing else.',
      });
    return role;
  }

  /** The role of SNS while it puts events into the stream. A FIFO topic does not do so itself. */
  subscriber(): iam.Role {
    return new iam.Role(this, 'Subscriber', {
      // SNS documents no condition for this. A role cannot be passed from another account.
      assumedBy: new iam.ServicePrincipal('sns.amazonaws.com'),
      inlinePolicies: {
        Put: new iam.PolicyDocument({
          statements: [
            new iam.PolicyStatement({
              sid: 'PutIntoStream',
              actions: [
                'firehose:DescribeDeliveryStream',
                'firehose:ListDeliveryStreams',
                'firehose:ListTagsForDeliveryStream',
                'firehose:PutRecord',
                'firehose:PutRecordBatch',
              ],
              resources: [this.streamArn],
            }),
          ],
        }),
      },
    });
  }
}
