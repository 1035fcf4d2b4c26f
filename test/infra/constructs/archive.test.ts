import { readdirSync, readFileSync } from 'node:fs';
import * as jq from 'jq-wasm';
import { describe, expect, it } from 'vitest';
import { certificationEventSchema } from '../../../lambda/events/event.ts';
import { archive, district, keyArn } from '../config/settings.ts';
import {
  arnOf,
  at,
  listAt,
  only,
  permissions,
  roleOf,
  synthesized,
  topicOf,
} from '../synthesized.ts';

const subscriptions = [{ ...archive, keepDays: 400, filter: { types: ['created'] } }];
const prefix =
  'events/day=!{timestamp:yyyy-MM-dd}/integration=!{partitionKeyFromQuery:integration}/';

const examples = readdirSync('docs/events/examples').map((name) =>
  certificationEventSchema.parse(JSON.parse(readFileSync(`docs/events/examples/${name}`, 'utf8'))),
);

describe.each([
  { topic: 'standard', title: 'a standard topic, with a key of its own' },
  { topic: 'fifo', title: 'a FIFO topic, with an existing key', keyArn },
])('an archive of $title', ({ title: _, ...settings }) => {
  const template = synthesized({ integrations: [district], subscriptions, ...settings });
  const isFifo = settings.topic === 'fifo';
  const [keyId] = Object.keys(template.findResources('AWS::KMS::Key'));
  const key = keyId === undefined ? keyArn : arnOf(keyId);
  const stream = only(template, 'AWS::KinesisFirehose::DeliveryStream');
  const destination = at(stream.resource, 'Properties', 'ExtendedS3DestinationConfiguration');
  const bucket = only(template, 'AWS::S3::Bucket');

  // Public access and plain HTTP are for cdk-nag to find.
  it('is an encrypted bucket that deletes old objects, has no versions, and outlives the stack', () => {
    const stopped = { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 } };
    const encrypted = { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: key };
    expect(bucket.resource).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [
            { BucketKeyEnabled: true, ServerSideEncryptionByDefault: encrypted },
          ],
        },
        LifecycleConfiguration: {
          Rules: [{ ...stopped, ExpirationInDays: 400, Status: 'Enabled' }],
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      },
    });
    expect(bucket.resource).not.toHaveProperty('Properties.VersioningConfiguration');
    const policy = only(template, 'AWS::S3::BucketPolicy').resource;
    const statements = listAt(policy, 'Properties', 'PolicyDocument', 'Statement');
    expect(statements.map((one) => at(one, 'Effect'))).toEqual(['Deny']);
    expect(template.findOutputs('*')).toHaveProperty('ArchiveBucket.Value', { Ref: bucket.id });
  });

  it('is written by Firehose, in lines, by day of arrival and integration', () => {
    expect(destination).toMatchObject({
      BucketARN: arnOf(bucket.id),
      CompressionFormat: 'GZIP',
      BufferingHints: { IntervalInSeconds: 900, SizeInMBs: 64 },
      DynamicPartitioningConfiguration: { Enabled: true },
      EncryptionConfiguration: { KMSEncryptionConfig: { AWSKMSKeyARN: key } },
      Prefix: prefix,
      // It may not name the key that was not found.
      ErrorOutputPrefix: 'errors/!{firehose:error-output-type}/day=!{timestamp:yyyy-MM-dd}/',
    });
    expect(parameterOf(destination, 'Delimiter')).toBe('\\n');
    expect(parameterOf(destination, 'JsonParsingEngine')).toBe('JQ-1.6');
  });

  it.each(examples)('sorts $type by its integration', async (event) => {
    const found = await jq.json(event, String(parameterOf(destination, 'MetadataExtractionQuery')));
    expect(found).toEqual({ integration: 'district-a' });
  });

  it('is written by a role of Firehose for this account, into this bucket, with this key', () => {
    const role = roleOf(template, 'firehose.amazonaws.com', 'archiveWriter');
    const objects = { 'Fn::Join': ['', [arnOf(bucket.id), '/*']] };
    const may = (resource: unknown, ...actions: string[]) =>
      actions.map((action) => [action, [resource]]);
    expect(Object.fromEntries(permissions(role))).toEqual(
      Object.fromEntries([
        ...may(objects, 's3:AbortMultipartUpload', 's3:GetObject', 's3:PutObject'),
        ...may(arnOf(bucket.id), 's3:GetBucketLocation', 's3:ListBucket'),
        ...may(arnOf(bucket.id), 's3:ListBucketMultipartUploads'),
        ...may(key, 'kms:Decrypt', 'kms:GenerateDataKey'),
      ]),
    );
    expect(JSON.stringify(at(role, 'Properties', 'AssumeRolePolicyDocument'))).toContain(
      '"Condition":{"StringEquals":{"sts:ExternalId":{"Ref":"AWS::AccountId"}}}',
    );
  });

  it(`gets events ${isFifo ? 'through a queue and a pipe' : 'from SNS'}, by a role that may put them and no more`, () => {
    const [service, id] = isFifo ? ['pipes', 'tothearchive'] : ['sns', 'archiveSubscriber'];
    const may = permissions(roleOf(template, `${service}.amazonaws.com`, id));
    expect(may.get('firehose:PutRecordBatch')).toEqual([arnOf(stream.id)]);
    expect(may.has('firehose:PutRecord')).toBe(!isFifo);
    expect(at(only(template, 'AWS::SNS::Subscription').resource, 'Properties')).toMatchObject({
      TopicArn: { Ref: topicOf(template, 'events') },
      RawMessageDelivery: true,
      FilterPolicy: { type: ['certification.created'] },
      RedrivePolicy: { deadLetterTargetArn: expect.anything() },
      ...(isFifo ? { Protocol: 'sqs' } : { Protocol: 'firehose', Endpoint: arnOf(stream.id) }),
    });
  });

  it('tells ops when nothing arrives for an hour, since Firehose gives up after 24', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Firehose',
      MetricName: 'DeliveryToS3.DataFreshness',
      Dimensions: [{ Name: 'DeliveryStreamName', Value: { Ref: stream.id } }],
      Statistic: 'Maximum',
      Threshold: 3_600,
      AlarmActions: [{ Ref: topicOf(template, 'operations') }],
    });
  });
});

/** From the processor that has it. */
function parameterOf(destination: unknown, name: string): unknown {
  const [found] = listAt(destination, 'ProcessingConfiguration', 'Processors')
    .flatMap((processor) => listAt(processor, 'Parameters'))
    .filter((parameter) => at(parameter, 'ParameterName') === name);
  return at(found, 'ParameterValue');
}

it("the guide's query reads the prefix that Firehose writes, and columns that events have", () => {
  const page = readFileSync('docs/subscribing.md', 'utf8');
  const within = (pattern: RegExp, text = page) => pattern.exec(text)?.[1] ?? '';
  const names = (text: string, pattern: RegExp) =>
    [...text.matchAll(pattern)].map(([, name = '']) => name);
  const location = within(/'storage\.location\.template' = 's3:\/\/BUCKET\/(.*)'/);
  expect(
    location
      .replace(/\$\{day\}/, '!{timestamp:yyyy-MM-dd}')
      .replace(/\$\{integration\}/, '!{partitionKeyFromQuery:integration}'),
  ).toBe(prefix);
  const table = within(/CREATE EXTERNAL TABLE certification_events \((.*?)\n\)/s);
  const [envelope = '', data = ''] = table.split('data struct<');
  const [example] = examples;
  const columns = names(envelope, /(\w+)`? string/g);
  expect(columns).toEqual(['id', 'type', 'subject', 'time', 'sequence']);
  // Athena reserves this name in CREATE TABLE.
  expect(envelope).toContain('`time` string');
  expect(Object.keys(example ?? {})).toEqual(expect.arrayContaining(columns));
  const ofAssessment = names(within(/assessment: struct<(.*?)>/s, data), /(\w+): /g);
  expect(ofAssessment).toHaveLength(4);
  expect(Object.keys(example?.data.assessment ?? {})).toEqual(expect.arrayContaining(ofAssessment));
});
