import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { addresses, district, keyArn, queue } from '../config/settings.ts';
import { arnOf, at, every, type Json, listAt, only, synthesized, topicOf } from '../synthesized.ts';

const reader = 'arn:aws:iam::111122223333:role/payroll';
const subscriptions = [
  {
    ...queue,
    raw: true,
    filter: {
      types: ['created', 'withdrawn'],
      organizations: [7, 8],
      assessments: ['Rope Bridge Safety'],
      integrations: ['district-a'],
      late: false,
    },
  },
  { ...queue, endpoint: { newQueue: 'payroll', readers: [reader], attempts: 3 } },
];
const people = [
  { topic: 'alerts', protocol: 'email', endpoint: 'odile@district-a.example.org' },
  { topic: 'alerts', protocol: 'https', endpoint: 'https://hook.example.org/T0AB/xYz9?token=abc' },
  { topic: 'alerts', protocol: 'https', endpoint: 'https://hook.example.org/T0AB/xYz9?token=abd' },
  { topic: 'alerts', protocol: 'lambda', endpoint: addresses.lambda },
];

const stackOf = (list: readonly object[], settings: object = {}) =>
  synthesized({ integrations: [district], subscriptions: list, ...settings });
const standard = stackOf([...subscriptions, ...people]);
const fifo = stackOf(subscriptions, { topic: 'fifo' });
const events = topicOf(standard, 'events');
const alerts = topicOf(standard, 'alerts');
const key = arnOf(only(standard, 'AWS::KMS::Key').id);
const payroll = only(standard, 'AWS::SQS::Queue', { VisibilityTimeout: 90 });
const subscribed = Object.entries(standard.findResources('AWS::SNS::Subscription'));

/** The queue of an ARN in the template. */
function queueAt(arn: unknown) {
  const [id = ''] = listAt(arn, 'Fn::GetAtt').map(String);
  const [[policyId, policy] = ['']] = Object.entries(
    standard.findResources('AWS::SQS::QueuePolicy', { Properties: { Queues: [{ Ref: id }] } }),
  );
  return {
    id,
    policyId,
    properties: at(standard.findResources('AWS::SQS::Queue')[id], 'Properties'),
    statements: listAt(policy, 'Properties', 'PolicyDocument', 'Statement'),
  };
}

/** Queues of messages and of dead letters, without that of unstarted ticks. */
const queuesIn = (template: typeof standard) =>
  every(template, 'AWS::SQS::Queue').filter(
    (one) => at(one, 'Properties', 'SqsManagedSseEnabled') !== true,
  );

const mayFrom = (topic: string) => ({
  Effect: 'Allow',
  Action: 'sqs:SendMessage',
  Principal: { Service: 'sns.amazonaws.com' },
  Condition: { ArnEquals: { 'aws:SourceArn': { Ref: topic } } },
});
const hasKeyStatement = (statement: Json) =>
  standard.hasResourceProperties('AWS::KMS::Key', {
    KeyPolicy: { Statement: Match.arrayWith([Match.objectLike(statement)]) },
  });

describe('a subscription', () => {
  it("translates its filter into SNS's words over the message attributes", () => {
    standard.hasResourceProperties('AWS::SNS::Subscription', {
      TopicArn: { Ref: events },
      Protocol: 'sqs',
      RawMessageDelivery: true,
      FilterPolicy: {
        type: ['certification.created', 'certification.withdrawn'],
        organization_id: [{ numeric: ['=', 7] }, { numeric: ['=', 8] }],
        assessment_name: ['Rope Bridge Safety'],
        integration: ['district-a'],
        late: ['false'],
      },
    });
  });

  it('keeps its logical id at any place in the list: another id subscribes again', () => {
    const ids = (template: typeof standard) =>
      Object.keys(template.findResources('AWS::SNS::Subscription')).toSorted();
    expect(ids(stackOf([...people, ...subscriptions]))).toEqual(ids(standard));
  });

  it.each(subscribed)(
    'has its own encrypted dead letters for its topic, and ops are told: %s',
    (_, one) => {
      const { RedrivePolicy, TopicArn, Endpoint } = { ...Object(at(one, 'Properties')) };
      const letters = at(RedrivePolicy, 'deadLetterTargetArn');
      const { id, properties, statements } = queueAt(letters);
      expect(properties).toEqual({ KmsMasterKeyId: key, MessageRetentionPeriod: 14 * 86_400 });
      const allowed = statements.filter((statement) => at(statement, 'Effect') === 'Allow');
      expect(allowed).toMatchObject([mayFrom(String(at(TopicArn, 'Ref')))]);
      expect(subscribed.filter(([, other]) => JSON.stringify(other).includes(id))).toHaveLength(1);
      standard.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName: 'ApproximateNumberOfMessagesVisible',
        Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [id, 'QueueName'] } }],
        ...{ Statistic: 'Maximum', Threshold: 1, EvaluationPeriods: 1 },
        AlarmActions: [{ Ref: topicOf(standard, 'operations') }],
      });
      // Without the queues' policies, SNS drops the messages.
      const queues = [letters, Endpoint].filter((arn) => at(arn, 'Fn::GetAtt') !== undefined);
      const policies = queues.map((arn) => queueAt(arn).policyId);
      expect(policies).not.toContain('');
      expect(listAt(one, 'DependsOn')).toEqual(expect.arrayContaining(policies));
    },
  );

  it('exists before a function publishes: a topic keeps nothing for later subscribers', () => {
    const ids = subscribed.map(([id]) => id);
    for (const one of every(standard, 'AWS::Lambda::Function'))
      expect(listAt(one, 'DependsOn')).toEqual(expect.arrayContaining(ids));
  });

  it('to a webhook is retried for most of an hour, not for a minute', () => {
    const hooks = subscribed.filter(([, one]) => at(one, 'Properties', 'Protocol') === 'https');
    const policy = at(hooks[0]?.[1], 'Properties', 'DeliveryPolicy', 'healthyRetryPolicy');
    // SNS documents this spelling. The CDK's own enum is in upper case.
    expect(at(policy, 'backoffFunction')).toBe('exponential');
    const number = (name: string) => Number(at(policy, name));
    const [min, max] = [number('minDelayTarget'), number('maxDelayTarget')];
    const [soon, late] = [number('numMinDelayRetries'), number('numMaxDelayRetries')];
    const between = number('numRetries') - soon - late;
    expect(between).toBeGreaterThanOrEqual(0);
    // "The total policy retry time for an HTTP/S endpoint cannot exceed 3,600 seconds."
    expect(soon * min + (between + late) * max).toBeLessThanOrEqual(3_600);
    expect(soon * min + between * min + late * max).toBeGreaterThan(1_800);
  });

  it('has the personal and secret parts of its address only in the property that SNS needs', () => {
    const text = (property: string) =>
      JSON.stringify(standard.toJSON(), (name, value) => (name === property ? undefined : value));
    expect(text('none')).toMatch(/odile.*token/s);
    expect(text('Endpoint')).not.toMatch(/odile|T0AB|xYz9|token[^A-Z]{0,3}ab[cd]/i);
    const alarms = JSON.stringify(standard.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms).toContain('by e-mail at district-a.example.org');
    expect(alarms).toContain('the webhook at hook.example.org');
  });
});

it('a new queue is encrypted, gives up after the configured attempts, and is open to its topic and readers only', () => {
  const subscription = only(standard, 'AWS::SNS::Subscription', {
    Endpoint: arnOf(payroll.id),
    TopicArn: { Ref: events },
  }).resource;
  expect(at(payroll.resource, 'Properties')).toMatchObject({
    KmsMasterKeyId: key,
    MessageRetentionPeriod: 14 * 86_400,
    RedrivePolicy: {
      ...Object(at(subscription, 'Properties', 'RedrivePolicy')),
      maxReceiveCount: 3,
    },
  });
  expect(standard.findOutputs('*')).toHaveProperty('QueuesKeyArn.Value', key);
  expect(standard.findOutputs('*')).toHaveProperty('QueueArnPayroll.Value', arnOf(payroll.id));
  expect(queueAt(arnOf(payroll.id)).statements).toMatchObject([
    { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    mayFrom(events),
    {
      Effect: 'Allow',
      Action: expect.arrayContaining(['sqs:ReceiveMessage', 'sqs:DeleteMessage']),
      Principal: { AWS: reader },
    },
  ]);
  hasKeyStatement({
    ...{ Effect: 'Allow', Action: 'kms:Decrypt', Principal: { AWS: reader } },
    Condition: { StringEquals: { 'kms:ViaService': Match.anyValue() } },
  });
});

it('a function that subscribes, in the account and region of the deployment, lets its topic in', () => {
  const permission = only(standard, 'AWS::Lambda::Permission');
  expect(permission.resource).toMatchObject({
    Properties: {
      Action: 'lambda:InvokeFunction',
      FunctionName: addresses.lambda,
      Principal: 'sns.amazonaws.com',
      SourceArn: { Ref: alerts },
    },
  });
  const condition = String(at(permission.resource, 'Condition'));
  expect(standard.findConditions('*')[condition]).toEqual({
    'Fn::And': [
      { 'Fn::Equals': [{ Ref: 'AWS::AccountId' }, '111122223333'] },
      { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] },
    ],
  });
  const subscription = only(standard, 'AWS::SNS::Subscription', { Endpoint: addresses.lambda });
  // This is a reference, since DependsOn does not know conditional resources.
  expect(listAt(subscription.resource, 'Metadata', 'After', 'Fn::If').slice(0, 2)).toEqual([
    condition,
    { Ref: permission.id },
  ]);
});

it('a FIFO topic is that of events only, and so are the queues made for it', () => {
  const isFifo = (one: unknown) => at(one, 'Properties', 'FifoTopic') === true;
  expect(every(fifo, 'AWS::SNS::Topic').filter(isFifo)).toMatchObject([
    {
      Properties: {
        DisplayName: 'Certification events',
        TopicName: expect.stringMatching(/\.fifo$/),
        FifoThroughputScope: 'MessageGroup',
      },
    },
  ]);
  expect(queuesIn(fifo)).toHaveLength(3);
  for (const one of queuesIn(fifo)) expect(one).toHaveProperty('Properties.FifoQueue', true);
  // An event that waits delays those of its own assessment only.
  fifo.hasResourceProperties('AWS::SQS::Queue', {
    VisibilityTimeout: 90,
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
  });
});

describe('the key', () => {
  it('of the stack lets the topics send to queues, and nobody if no queue is subscribed', () => {
    hasKeyStatement({
      Effect: 'Allow',
      Principal: { Service: 'sns.amazonaws.com' },
      Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      Condition: { ArnLike: { 'aws:SourceArn': Match.anyValue() } },
    });
    expect(JSON.stringify(stackOf([]).findResources('AWS::KMS::Key'))).not.toContain(
      'sns.amazonaws',
    );
  });

  it('of others replaces a new one everywhere', () => {
    const template = stackOf(subscriptions, { keyArn });
    template.resourceCountIs('AWS::KMS::Key', 0);
    template.allResourcesProperties('AWS::SNS::Topic', { KmsMasterKeyId: keyArn });
    expect(queuesIn(template)).toHaveLength(3);
    for (const one of queuesIn(template))
      expect(one).toHaveProperty('Properties.KmsMasterKeyId', keyArn);
    expect(JSON.stringify(template.findResources('AWS::IAM::Role'))).toContain(keyArn);
  });

  it('of others needs the documented statements, which a new key gets', () => {
    const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    const [, documented = ''] = page.match(/```json\n(\[.*?\])\n```/s) ?? [];
    const told = listAt({ statements: JSON.parse(documented) }, 'statements');
    expect(told).toHaveLength(2);
    for (const statement of told) {
      const { Condition: _, ...rest } = Object(statement);
      hasKeyStatement(rest);
    }
  });
});
