import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { at, district, type Json, listAt, only, synthesized } from '../synthesized.ts';

const reader = 'arn:aws:iam::111122223333:role/payroll';
const functionArn = 'arn:aws:lambda:us-east-1:111122223333:function:certifications';

const subscriptions = [
  {
    topic: 'events',
    protocol: 'sqs',
    endpoint: 'arn:aws:sqs:us-east-1:111122223333:certifications',
    raw: true,
    filter: {
      types: ['created', 'withdrawn'],
      organizations: [7, 8],
      assessments: ['Rope Bridge Safety'],
      integrations: ['district-a'],
      late: false,
    },
  },
  {
    topic: 'events',
    protocol: 'sqs',
    endpoint: { newQueue: 'payroll', readers: [reader], attempts: 3 },
  },
];
const people = [
  { topic: 'alerts', protocol: 'email', endpoint: 'office@district-a.example.org' },
  { topic: 'alerts', protocol: 'https', endpoint: 'https://hook.example.org/secret-path' },
  { topic: 'alerts', protocol: 'lambda', endpoint: functionArn },
];

const standard = synthesized({
  integrations: [district],
  subscriptions: [...subscriptions, ...people],
});
const fifo = synthesized({ integrations: [district], topic: 'fifo', subscriptions });

const topicOf = (name: string) => only(standard, 'AWS::SNS::Topic', { DisplayName: name }).id;
const events = topicOf('Certification events');
const alerts = topicOf('Certification alerts');
const key = { 'Fn::GetAtt': [only(standard, 'AWS::KMS::Key').id, 'Arn'] };

const subscribed = (properties: Json) =>
  only(standard, 'AWS::SNS::Subscription', properties).resource;
const payroll = only(standard, 'AWS::SQS::Queue', { VisibilityTimeout: 90 });

/** The queue of an ARN in the template. */
function queueAt(arn: unknown) {
  const [id = ''] = listAt(arn, 'Fn::GetAtt').map(String);
  const resource = standard.findResources('AWS::SQS::Queue')[id];
  const [policy] = Object.values(standard.findResources('AWS::SQS::QueuePolicy')).filter((found) =>
    JSON.stringify(at(found, 'Properties', 'Queues')).includes(`"${id}"`),
  );
  return {
    id,
    properties: at(resource, 'Properties'),
    statements: listAt(policy, 'Properties', 'PolicyDocument', 'Statement'),
  };
}

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

  it('without a filter gets all events, in the envelope of SNS', () => {
    standard.hasResourceProperties('AWS::SNS::Subscription', {
      TopicArn: { Ref: alerts },
      Protocol: 'email',
      Endpoint: 'office@district-a.example.org',
      FilterPolicy: Match.absent(),
      RawMessageDelivery: Match.absent(),
    });
  });

  it('keeps its logical id at any place in the list: another id subscribes again', () => {
    const ids = (list: unknown[]) =>
      Object.keys(
        synthesized({ integrations: [district], subscriptions: list }).findResources(
          'AWS::SNS::Subscription',
        ),
      ).sort();
    expect(ids([...people, ...subscriptions])).toEqual(ids([...subscriptions, ...people]));
  });

  it.each(Object.entries(standard.findResources('AWS::SNS::Subscription')))(
    'depends on the policies that SNS needs to deliver, or SNS drops the messages: %s',
    (_id, subscription) => {
      const { RedrivePolicy, Endpoint } = { ...Object(at(subscription, 'Properties')) };
      const queues = [at(RedrivePolicy, 'deadLetterTargetArn'), Endpoint]
        .map((arn) => listAt(arn, 'Fn::GetAtt')[0])
        .filter((queue) => queue !== undefined);
      const policies = Object.entries(standard.findResources('AWS::SQS::QueuePolicy')).filter(
        ([, policy]) =>
          queues.some((queue) => at(policy, 'Properties', 'Queues', '0', 'Ref') === queue),
      );
      expect(policies).toHaveLength(queues.length);
      expect(listAt(subscription, 'DependsOn')).toEqual(
        expect.arrayContaining(policies.map(([id]) => id)),
      );
      if (Endpoint !== functionArn) return;
      const { id, resource } = only(standard, 'AWS::Lambda::Permission');
      // This is a reference, since DependsOn does not know conditional resources.
      expect(listAt(subscription, 'Metadata', 'After', 'Fn::If').slice(0, 2)).toEqual([
        at(resource, 'Condition'),
        { Ref: id },
      ]);
    },
  );

  it('exists before a function publishes: a topic keeps nothing for later subscribers', () => {
    const ids = Object.keys(standard.findResources('AWS::SNS::Subscription'));
    const functions = Object.values(standard.findResources('AWS::Lambda::Function'));
    expect(functions).toHaveLength(2);
    for (const one of functions)
      expect(listAt(one, 'DependsOn')).toEqual(expect.arrayContaining(ids));
  });

  it('to a webhook is retried for most of an hour, not for a minute', () => {
    const policy = at(subscribed({ Protocol: 'https' }), 'Properties', 'DeliveryPolicy');
    // SNS documents this spelling. The CDK's own enum is in upper case.
    expect(at(policy, 'healthyRetryPolicy', 'backoffFunction')).toBe('exponential');
    const number = (name: string) => Number(at(policy, 'healthyRetryPolicy', name));
    const [min, max] = [number('minDelayTarget'), number('maxDelayTarget')];
    const [soon, late] = [number('numMinDelayRetries'), number('numMaxDelayRetries')];
    const between = number('numRetries') - soon - late;
    expect(between).toBeGreaterThanOrEqual(0);
    // "The total policy retry time for an HTTP/S endpoint cannot exceed 3,600 seconds."
    expect(soon * min + (between + late) * max).toBeLessThanOrEqual(3_600);
    expect(soon * min + between * min + late * max).toBeGreaterThan(1_800);
  });
});

describe('a message that SNS cannot deliver', () => {
  it.each(Object.entries(standard.findResources('AWS::SNS::Subscription')))(
    'waits in an encrypted queue to which the topic may send, and ops are told: %s',
    (_id, subscription) => {
      const { RedrivePolicy, TopicArn } = { ...Object(at(subscription, 'Properties')) };
      const { id, properties, statements } = queueAt(at(RedrivePolicy, 'deadLetterTargetArn'));
      expect(properties).toEqual({ KmsMasterKeyId: key, MessageRetentionPeriod: 14 * 86_400 });
      const allowed = statements.filter((statement) => at(statement, 'Effect') === 'Allow');
      expect(allowed).toMatchObject([
        {
          Action: 'sqs:SendMessage',
          Principal: { Service: 'sns.amazonaws.com' },
          Condition: { ArnEquals: { 'aws:SourceArn': TopicArn } },
        },
      ]);
      standard.hasResourceProperties('AWS::CloudWatch::Alarm', {
        Namespace: 'AWS/SQS',
        MetricName: 'ApproximateNumberOfMessagesVisible',
        Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [id, 'QueueName'] } }],
        Statistic: 'Maximum',
        Threshold: 1,
        EvaluationPeriods: 1,
        AlarmActions: [{ Ref: topicOf('Certification notifier operations') }],
      });
    },
  );

  it('has a separate queue for each subscriber', () => {
    const queues = Object.values(standard.findResources('AWS::SNS::Subscription')).map(
      (subscription) => JSON.stringify(at(subscription, 'Properties', 'RedrivePolicy')),
    );
    expect(new Set(queues).size).toBe(subscriptions.length + people.length);
  });

  it('can be encrypted by SNS with the key of the topics, whose policy lets the topics in', () => {
    const statement = {
      Effect: 'Allow',
      Principal: { Service: 'sns.amazonaws.com' },
      Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      Condition: { ArnLike: { 'aws:SourceArn': Match.anyValue() } },
    };
    standard.hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: { Statement: Match.arrayWith([Match.objectLike(statement)]) },
    });
    const without = synthesized({ integrations: [district] });
    expect(JSON.stringify(without.findResources('AWS::KMS::Key'))).not.toContain('sns.amazonaws');
  });

  it('has no personal or secret part of an address in any name', () => {
    const secretive = synthesized({
      integrations: [district],
      subscriptions: [
        { topic: 'alerts', protocol: 'email', endpoint: 'odile@district-a.example.org' },
        { topic: 'alerts', protocol: 'email-json', endpoint: 'odile@district-a.example.org' },
        {
          topic: 'alerts',
          protocol: 'https',
          endpoint: 'https://hook.example.org/T0AB/xYz9?token=abc',
        },
        {
          topic: 'alerts',
          protocol: 'https',
          endpoint: 'https://hook.example.org/T0AB/xYz9?token=abd',
        },
      ],
    });
    secretive.resourceCountIs('AWS::SNS::Subscription', 4);
    // The address is only in the property that SNS needs.
    const elsewhere = JSON.stringify(secretive.toJSON(), (key, value) =>
      key === 'Endpoint' ? undefined : value,
    );
    expect(elsewhere).not.toMatch(/odile|T0AB|xYz9|token[^A-Z]{0,3}ab[cd]/i);
  });

  it('is announced without personal or secret parts of an address', () => {
    const alarms = JSON.stringify(
      Object.values(standard.findResources('AWS::CloudWatch::Alarm')).map((alarm) =>
        at(alarm, 'Properties', 'AlarmDescription'),
      ),
    );
    expect(alarms).toContain('by e-mail at district-a.example.org');
    expect(alarms).toContain('the webhook at hook.example.org');
    expect(alarms).not.toContain('office@');
    expect(alarms).not.toContain('secret-path');
  });
});

describe('a new queue', () => {
  it('is encrypted, gives up after the configured attempts, and is subscribed', () => {
    expect(at(payroll.resource, 'Properties')).toMatchObject({
      KmsMasterKeyId: key,
      RedrivePolicy: {
        deadLetterTargetArn: at(
          subscribed({
            Endpoint: { 'Fn::GetAtt': [payroll.id, 'Arn'] },
            TopicArn: { Ref: events },
          }),
          'Properties',
          'RedrivePolicy',
          'deadLetterTargetArn',
        ),
        maxReceiveCount: 3,
      },
    });
  });

  it('accepts messages from its topic only, over TLS only, and gives them to its readers only', () => {
    const { statements } = queueAt({ 'Fn::GetAtt': [payroll.id, 'Arn'] });
    expect(statements).toHaveLength(3);
    expect(statements).toMatchObject([
      { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      {
        Effect: 'Allow',
        Action: 'sqs:SendMessage',
        Principal: { Service: 'sns.amazonaws.com' },
        Condition: { ArnEquals: { 'aws:SourceArn': { Ref: events } } },
      },
      {
        Effect: 'Allow',
        Action: expect.arrayContaining(['sqs:ReceiveMessage', 'sqs:DeleteMessage']),
        Principal: { AWS: reader },
      },
    ]);
  });

  it('can be decrypted by its readers, through SQS only', () => {
    standard.hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Allow',
            Action: 'kms:Decrypt',
            Principal: { AWS: reader },
            Condition: { StringEquals: { 'kms:ViaService': Match.anyValue() } },
          }),
        ]),
      },
    });
  });

  it('is among the outputs, with the values that its readers need', () => {
    expect(Object.keys(standard.findOutputs('*'))).toEqual(
      expect.arrayContaining(['QueueUrlPayroll', 'QueueArnPayroll', 'QueuesKeyArn']),
    );
  });
});

describe('a function that subscribes', () => {
  it('in the account and region of the deployment lets its topic in', () => {
    standard.hasResource('AWS::Lambda::Permission', {
      Condition: Match.anyValue(),
      Properties: {
        Action: 'lambda:InvokeFunction',
        FunctionName: functionArn,
        Principal: 'sns.amazonaws.com',
        SourceArn: { Ref: alerts },
      },
    });
    const conditions = standard.findConditions('*', {
      'Fn::And': [
        { 'Fn::Equals': [{ Ref: 'AWS::AccountId' }, '111122223333'] },
        { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] },
      ],
    });
    expect(Object.keys(conditions)).toHaveLength(1);
  });
});

describe('a FIFO topic', () => {
  it('is the events topic only', () => {
    const topics = Object.values(fifo.findResources('AWS::SNS::Topic', {}));
    expect(topics).toHaveLength(3);
    expect(topics.filter((topic) => at(topic, 'Properties', 'FifoTopic') === true)).toMatchObject([
      {
        Properties: {
          DisplayName: 'Certification events',
          TopicName: expect.stringMatching(/\.fifo$/),
          FifoThroughputScope: 'MessageGroup',
        },
      },
    ]);
  });

  it('has FIFO queues made for it, of messages and of dead letters', () => {
    const queues = Object.values(fifo.findResources('AWS::SQS::Queue', {})).filter(
      (queue) => at(queue, 'Properties', 'SqsManagedSseEnabled') !== true,
    );
    expect(queues).toHaveLength(3);
    for (const queue of queues) expect(at(queue, 'Properties', 'FifoQueue')).toBe(true);
  });
});

describe('the key of the stack', () => {
  it('stays when it is no longer used, since waiting messages are read with it', () => {
    expect(only(standard, 'AWS::KMS::Key').resource).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
  });
});

describe('an existing key', () => {
  const keyArn = 'arn:aws:kms:us-east-1:111122223333:key/mrk-0123456789abcdef0123456789abcdef';
  const template = synthesized({ integrations: [district], keyArn, subscriptions });

  it('replaces a new one everywhere', () => {
    template.resourceCountIs('AWS::KMS::Key', 0);
    template.allResourcesProperties('AWS::SNS::Topic', { KmsMasterKeyId: keyArn });
    const queues = Object.values(template.findResources('AWS::SQS::Queue')).filter(
      (queue) => at(queue, 'Properties', 'SqsManagedSseEnabled') !== true,
    );
    expect(queues).toHaveLength(3);
    for (const queue of queues) expect(at(queue, 'Properties', 'KmsMasterKeyId')).toBe(keyArn);
    expect(JSON.stringify(template.findResources('AWS::IAM::Role'))).toContain(keyArn);
  });

  it('needs the documented statements, which a new key gets', () => {
    const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    const [, documented = ''] = page.match(/```json\n(\[.*?\])\n```/s) ?? [];
    const told = listAt({ statements: JSON.parse(documented) }, 'statements');
    const created = listAt(
      only(standard, 'AWS::KMS::Key').resource,
      'Properties',
      'KeyPolicy',
      'Statement',
    );
    for (const statement of told) {
      const { Condition: _, ...rest } = Object(statement);
      expect(created).toContainEqual(expect.objectContaining(rest));
    }
    expect(told).toHaveLength(2);
  });
});
