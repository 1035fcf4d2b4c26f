import { readdirSync, readFileSync } from 'node:fs';
import * as jq from 'jq-wasm';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { certificationEventSchema } from '../../../lambda/events/event.ts';
import { at, district, listAt, only, permissions, roleOf, synthesized } from '../synthesized.ts';

const other = { ...district, name: 'district-b' };
const keyArn = 'arn:aws:kms:us-east-1:111122223333:key/mrk-0123456789abcdef0123456789abcdef';
const filter = { types: ['created'] };
const archive = { topic: 'events', protocol: 'archive', keepDays: 400, filter };

const combinations = [
  { topic: 'standard', integrations: [district] },
  { topic: 'fifo', integrations: [district] },
  { topic: 'standard', integrations: [district, other], keyArn },
  { topic: 'fifo', integrations: [district, other], keyArn },
].map((config) => ({
  title: `${config.topic}, ${config.integrations.length} integrations, ${'keyArn' in config ? 'a key of theirs' : 'a new key'}`,
  isFifo: config.topic === 'fifo',
  template: synthesized({ ...config, subscriptions: [archive] }),
}));

const examples = readdirSync('docs/events/examples').map((name) =>
  certificationEventSchema.parse(JSON.parse(readFileSync(`docs/events/examples/${name}`, 'utf8'))),
);
const page = readFileSync('docs/subscribing.md', 'utf8');

describe.each(combinations)('an archive ($title)', ({ template, isFifo }) => {
  const [keyId] = Object.keys(template.findResources('AWS::KMS::Key'));
  const key = keyId === undefined ? keyArn : { 'Fn::GetAtt': [keyId, 'Arn'] };
  const stream = only(template, 'AWS::KinesisFirehose::DeliveryStream');
  const destination = at(stream.resource, 'Properties', 'ExtendedS3DestinationConfiguration');
  const bucket = only(template, 'AWS::S3::Bucket');
  const bucketArn = { 'Fn::GetAtt': [bucket.id, 'Arn'] };
  const streamArn = { 'Fn::GetAtt': [stream.id, 'Arn'] };
  const events = only(template, 'AWS::SNS::Topic', { DisplayName: 'Certification events' }).id;
  const operations = only(template, 'AWS::SNS::Topic', {
    DisplayName: 'Certification notifier operations',
  }).id;

  it('is an encrypted bucket that is never public, deletes old objects, and has no versions', () => {
    expect(at(bucket.resource, 'Properties')).toEqual({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          {
            BucketKeyEnabled: true,
            ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: key },
          },
        ],
      },
      LifecycleConfiguration: {
        Rules: [
          {
            AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
            ExpirationInDays: 400,
            Status: 'Enabled',
          },
        ],
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    });
  });

  it('outlives the stack, with all its objects', () => {
    expect(bucket.resource).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
    });
  });

  it('refuses plain HTTP, and its policy lets nobody in', () => {
    const policy = only(template, 'AWS::S3::BucketPolicy').resource;
    expect(listAt(policy, 'Properties', 'PolicyDocument', 'Statement')).toMatchObject([
      { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    ]);
  });

  it('is written by Firehose, in lines, by day of arrival and integration', () => {
    expect(destination).toMatchObject({
      BucketARN: bucketArn,
      CompressionFormat: 'GZIP',
      BufferingHints: { IntervalInSeconds: 900, SizeInMBs: 64 },
      DynamicPartitioningConfiguration: { Enabled: true },
      EncryptionConfiguration: { KMSEncryptionConfig: { AWSKMSKeyARN: key } },
      Prefix:
        'events/day=!{timestamp:yyyy-MM-dd}/integration=!{partitionKeyFromQuery:integration}/',
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
    const objects = { 'Fn::Join': ['', [bucketArn, '/*']] };
    expect(permissions(role)).toEqual(
      new Map<string, unknown[]>([
        ['s3:AbortMultipartUpload', [objects]],
        ['s3:GetObject', [objects]],
        ['s3:PutObject', [objects]],
        ['s3:GetBucketLocation', [bucketArn]],
        ['s3:ListBucket', [bucketArn]],
        ['s3:ListBucketMultipartUploads', [bucketArn]],
        ['kms:Decrypt', [key]],
        ['kms:GenerateDataKey', [key]],
      ]),
    );
    expect(listAt(role, 'Properties', 'AssumeRolePolicyDocument', 'Statement')).toMatchObject([
      { Condition: { StringEquals: { 'sts:ExternalId': { Ref: 'AWS::AccountId' } } } },
    ]);
  });

  it(`gets events ${isFifo ? 'through a queue and a pipe' : 'from SNS'}, filtered and raw`, () => {
    const subscription = only(template, 'AWS::SNS::Subscription').resource;
    expect(at(subscription, 'Properties')).toMatchObject({
      TopicArn: { Ref: events },
      RawMessageDelivery: true,
      FilterPolicy: { type: ['certification.created'] },
      RedrivePolicy: { deadLetterTargetArn: expect.anything() },
    });
    template.resourceCountIs('AWS::Pipes::Pipe', isFifo ? 1 : 0);
    const put = isFifo
      ? roleOf(template, 'pipes.amazonaws.com', 'tothearchive')
      : roleOf(template, 'sns.amazonaws.com', 'archiveSubscriber');
    expect(permissions(put).get('firehose:PutRecordBatch')).toEqual([streamArn]);
    if (isFifo) {
      const pipe = only(template, 'AWS::Pipes::Pipe').resource;
      expect(at(pipe, 'Properties', 'Target')).toEqual(streamArn);
      expect(at(subscription, 'Properties', 'Protocol')).toBe('sqs');
      expect(permissions(put).has('firehose:PutRecord')).toBe(false);
    } else {
      expect(at(subscription, 'Properties')).toMatchObject({
        Protocol: 'firehose',
        Endpoint: streamArn,
        SubscriptionRoleArn: expect.anything(),
      });
    }
  });

  it('tells ops when nothing arrives for an hour, since Firehose gives up after 24', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Firehose',
      MetricName: 'DeliveryToS3.DataFreshness',
      Dimensions: [{ Name: 'DeliveryStreamName', Value: { Ref: stream.id } }],
      Statistic: 'Maximum',
      Threshold: 3_600,
      AlarmActions: [{ Ref: operations }],
    });
  });

  it('is among the outputs, and on the dashboard', () => {
    expect(Object.keys(template.findOutputs('*'))).toEqual(
      expect.arrayContaining(['ArchiveBucket', 'QueuesKeyArn']),
    );
    const dashboard = JSON.stringify(only(template, 'AWS::CloudWatch::Dashboard').resource);
    expect(dashboard).toContain('DeliveryToS3.DataFreshness');
  });
});

describe('the query of the guide', () => {
  it('reads the prefix that Firehose writes', () => {
    const [, location = ''] =
      /'storage\.location\.template' = 's3:\/\/BUCKET\/(.*)'/.exec(page) ?? [];
    const prefix = location.replace(/\$\{day\}/, '!{timestamp:yyyy-MM-dd}');
    expect(prefix.replace(/\$\{integration\}/, '!{partitionKeyFromQuery:integration}')).toBe(
      'events/day=!{timestamp:yyyy-MM-dd}/integration=!{partitionKeyFromQuery:integration}/',
    );
  });

  it('has columns of events', () => {
    const [, table = ''] =
      /CREATE EXTERNAL TABLE certification_events \((.*?)\n\)/s.exec(page) ?? [];
    const [, envelope = '', data = ''] = /^(.*?)data struct<(.*)>$/s.exec(table.trim()) ?? [];
    const [, assessment = '', rest = ''] = /assessment: struct<(.*?)>(.*)/s.exec(data) ?? [];
    const names = (text: string, pattern: RegExp) =>
      [...text.matchAll(pattern)].map(([, name = '']) => name);
    const [example] = examples;
    expect(names(envelope, /(\w+)`? string/g)).toEqual([
      'id',
      'type',
      'subject',
      'time',
      'sequence',
    ]);
    expect(Object.keys(example ?? {})).toEqual(
      expect.arrayContaining(names(envelope, /(\w+)`? string/g)),
    );
    expect(Object.keys(example?.data.assessment ?? {})).toEqual(
      expect.arrayContaining(names(assessment, /(\w+): /g)),
    );
    expect(names(assessment, /(\w+): /g)).toHaveLength(4);
    const { shape } = certificationEventSchema.def.options[0].shape.data;
    expect(Object.keys(shape)).toEqual(expect.arrayContaining(names(rest, /(\w+): /g)));
    expect(names(rest, /(\w+): /g)).toHaveLength(4);
  });

  it('quotes the column whose name Athena reserves in CREATE TABLE', () => {
    // Those of "Reserved keywords in DDL statements" that an event could have.
    const reserved =
      /^(date|end|function|group|of|order|range|row|start|table|time|timestamp|to|user|values)$/;
    const [, table = ''] =
      /CREATE EXTERNAL TABLE certification_events \((.*?)\n\)/s.exec(page) ?? [];
    const bare = [...table.matchAll(/([`\w]+)(?: string|: | struct)/g)].map(
      ([, name = '']) => name,
    );
    expect(bare).toContain('`time`');
    expect(bare.filter((name) => reserved.test(name))).toEqual([]);
  });

  it('reads the days with events of the month: an object lies under its oldest event', () => {
    const archived = at(
      only(
        synthesized({ integrations: [district], subscriptions: [archive] }),
        'AWS::KinesisFirehose::DeliveryStream',
      ).resource,
      'Properties',
      'ExtendedS3DestinationConfiguration',
    );
    const [, from = '', to = ''] = /WHERE day BETWEEN '(\S+)' AND '(\S+)'/.exec(page) ?? [];
    const [, first = '', end = ''] = /AND time >= '(\S+)' AND time < '(\S+)'/.exec(page) ?? [];
    const { IntervalInSeconds } = z
      .object({ IntervalInSeconds: z.number() })
      .parse(at(archived, 'BufferingHints'));
    const arrival = (day: string) => Temporal.Instant.from(`${day}T00:00:00Z`);
    const dayOf = (instant: Temporal.Instant) => instant.toString().slice(0, 10);
    // The first event of the month may join an object as old as Firehose's longest buffer.
    expect(dayOf(arrival(first).subtract({ seconds: IntervalInSeconds }))).toBe(from);
    // The last one arrives after SNS has delivered it, on the next day at the latest.
    expect(dayOf(arrival(end))).toBe(to);
  });
});

it('a stack without an archive has no part of one', () => {
  const template = synthesized({ integrations: [district] });
  template.resourceCountIs('AWS::S3::Bucket', 0);
  template.resourceCountIs('AWS::KinesisFirehose::DeliveryStream', 0);
  expect(Object.keys(template.findOutputs('*'))).not.toContain('ArchiveBucket');
});

/** From the processor that has it. */
function parameterOf(destination: unknown, name: string): unknown {
  const [found] = listAt(destination, 'ProcessingConfiguration', 'Processors')
    .flatMap((processor) => listAt(processor, 'Parameters'))
    .filter((parameter) => at(parameter, 'ParameterName') === name);
  return at(found, 'ParameterValue');
}
