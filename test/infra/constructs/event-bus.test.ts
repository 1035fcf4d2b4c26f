import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  at,
  district,
  listAt,
  only,
  permissions,
  roleOf,
  statementsOf,
  synthesized,
} from '../synthesized.ts';

const other = { ...district, name: 'district-b' };
const keyArn = 'arn:aws:kms:us-east-1:111122223333:key/mrk-0123456789abcdef0123456789abcdef';
const bus = (settings: object = {}) => ({
  topic: 'events',
  protocol: 'event-bus',
  bus: 'default',
  ...settings,
});

const combinations = [
  { topic: 'standard', integrations: [district] },
  { topic: 'fifo', integrations: [district] },
  { topic: 'standard', integrations: [district, other], keyArn },
  { topic: 'fifo', integrations: [district, other], keyArn },
].map((config) => ({
  title: `${config.topic}, ${config.integrations.length} integrations, ${'keyArn' in config ? 'a key of theirs' : 'a new key'}`,
  fifo: config.topic === 'fifo',
  template: synthesized({ ...config, subscriptions: [bus({ filter: { types: ['created'] } })] }),
}));

describe.each(combinations)('events for a bus ($title)', ({ template, fifo }) => {
  const key = keyOf(template);
  const events = only(template, 'AWS::SNS::Topic', { DisplayName: 'Certification events' }).id;
  const operations = only(template, 'AWS::SNS::Topic', {
    DisplayName: 'Certification notifier operations',
  }).id;
  const pipe = only(template, 'AWS::Pipes::Pipe').resource;
  const [queueId = ''] = listAt(pipe, 'Properties', 'Source', 'Fn::GetAtt').map(String);
  const queue = at(template.findResources('AWS::SQS::Queue')[queueId], 'Properties');
  const role = roleOf(template, 'pipes.amazonaws.com', 'eventbusdefault');
  const arnOfBus = {
    'Fn::Join': [
      '',
      [
        'arn:',
        { Ref: 'AWS::Partition' },
        ':events:',
        { Ref: 'AWS::Region' },
        ':',
        { Ref: 'AWS::AccountId' },
        ':event-bus/default',
      ],
    ],
  };

  it("go through a queue of the topic's kind, filtered like all others, and raw, since a pipe reads the body", () => {
    template.hasResourceProperties('AWS::SNS::Subscription', {
      TopicArn: { Ref: events },
      Protocol: 'sqs',
      Endpoint: { 'Fn::GetAtt': [queueId, 'Arn'] },
      RawMessageDelivery: true,
      FilterPolicy: { type: ['certification.created'] },
    });
    expect(at(queue, 'FifoQueue')).toBe(fifo || undefined);
    expect(at(queue, 'KmsMasterKeyId')).toEqual(key);
  });

  it("become the bus's events: source, type and time are the event's, one in a request", () => {
    expect(at(pipe, 'Properties')).toMatchObject({
      SourceParameters: { SqsQueueParameters: { BatchSize: 1 } },
      Target: arnOfBus,
      TargetParameters: {
        EventBridgeEventBusParameters: {
          Source: '$.body.source',
          DetailType: '$.body.type',
          Time: '$.body.time',
        },
      },
    });
  });

  it('are passed on by a role that may read this queue, decrypt, and write to this bus, and no more', () => {
    const queueArn = { 'Fn::GetAtt': [queueId, 'Arn'] };
    expect(permissions(role)).toEqual(
      new Map([
        ['sqs:ReceiveMessage', [queueArn]],
        ['sqs:DeleteMessage', [queueArn]],
        ['sqs:GetQueueAttributes', [queueArn]],
        ['kms:Decrypt', [key]],
        ['events:PutEvents', [arnOfBus]],
      ]),
    );
    const [decrypting] = statementsOf(role).filter(
      (statement) => at(statement, 'Action') === 'kms:Decrypt',
    );
    expect(at(decrypting, 'Condition', 'StringEquals', 'kms:ViaService')).toBeDefined();
    expect(listAt(role, 'Properties', 'AssumeRolePolicyDocument', 'Statement')).toMatchObject([
      {
        Principal: { Service: 'pipes.amazonaws.com' },
        Condition: {
          StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
          ArnLike: { 'aws:SourceArn': expect.anything() },
        },
      },
    ]);
  });

  it('that the bus refuses become dead letters of the queue, as do those that SNS cannot deliver', () => {
    const redrive = at(queue, 'RedrivePolicy', 'deadLetterTargetArn');
    const subscription = only(template, 'AWS::SNS::Subscription').resource;
    expect(at(subscription, 'Properties', 'RedrivePolicy', 'deadLetterTargetArn')).toEqual(redrive);
    const [deadLetters = ''] = listAt(redrive, 'Fn::GetAtt').map(String);
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [deadLetters, 'QueueName'] } }],
      AlarmActions: [{ Ref: operations }],
      AlarmDescription: Match.stringLikeRegexp('^the event bus default: '),
    });
  });

  it('that wait set off an alarm: a pipe that AWS has stopped makes no dead letters', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/SQS',
      // The age leaves out messages that were received three times.
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queueId, 'QueueName'] } }],
      Statistic: 'Minimum',
      Threshold: 1,
      EvaluationPeriods: 3,
      TreatMissingData: 'notBreaching',
      AlarmActions: [{ Ref: operations }],
    });
  });

  it('are on the dashboard', () => {
    const body = JSON.stringify(only(template, 'AWS::CloudWatch::Dashboard').resource);
    expect(body).toContain('## Is everything passed on?');
    expect(body).toContain('the event bus default');
  });

  it('have no queue to which a command may send, so a replay to all subscribers reaches the bus, too', () => {
    for (const one of Object.values(template.findResources('AWS::IAM::Role')))
      expect([...permissions(one).keys()]).not.toContain('sqs:GetQueueUrl');
  });
});

it('a stack without a bus has no part of one', () => {
  const template = synthesized({ integrations: [district] });
  template.resourceCountIs('AWS::Pipes::Pipe', 0);
  expect(JSON.stringify(template.toJSON())).not.toContain('passed on?');
});

function keyOf(template: ReturnType<typeof synthesized>): unknown {
  const [id] = Object.keys(template.findResources('AWS::KMS::Key'));
  return id === undefined ? keyArn : { 'Fn::GetAtt': [id, 'Arn'] };
}
