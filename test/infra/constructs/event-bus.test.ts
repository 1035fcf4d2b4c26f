import { describe, expect, it } from 'vitest';
import { bus, district, keyArn } from '../config/settings.ts';
import {
  arnOf,
  at,
  every,
  listAt,
  only,
  permissions,
  roleOf,
  statementsOf,
  synthesized,
  topicOf,
} from '../synthesized.ts';

const subscriptions = [{ ...bus, filter: { types: ['created'] } }];

describe.each([
  { topic: 'standard', title: 'a standard topic, with a key of its own', isFifo: undefined },
  { topic: 'fifo', title: 'a FIFO topic, with an existing key', keyArn, isFifo: true },
])('events for a bus, of $title,', ({ title: _, isFifo, ...settings }) => {
  const template = synthesized({ integrations: [district], subscriptions, ...settings });
  const [keyId] = Object.keys(template.findResources('AWS::KMS::Key'));
  const key = keyId === undefined ? keyArn : arnOf(keyId);
  const pipe = only(template, 'AWS::Pipes::Pipe').resource;
  const [queueId = ''] = listAt(pipe, 'Properties', 'Source', 'Fn::GetAtt').map(String);
  const queue = at(template.findResources('AWS::SQS::Queue')[queueId], 'Properties');
  const arnOfBus = {
    'Fn::Join': ['', expect.arrayContaining([{ Ref: 'AWS::AccountId' }, ':event-bus/default'])],
  };

  it("go through a queue of the topic's kind, filtered like all others, and raw, since a pipe reads the body", () => {
    template.hasResourceProperties('AWS::SNS::Subscription', {
      TopicArn: { Ref: topicOf(template, 'events') },
      Protocol: 'sqs',
      Endpoint: arnOf(queueId),
      RawMessageDelivery: true,
      FilterPolicy: { type: ['certification.created'] },
      // Letters that SNS cannot deliver join those that the bus refuses.
      RedrivePolicy: { deadLetterTargetArn: at(queue, 'RedrivePolicy', 'deadLetterTargetArn') },
    });
    expect(at(queue, 'FifoQueue')).toBe(isFifo);
    // An event may be as large as a request to the bus.
    expect(pipe).toHaveProperty('Properties.SourceParameters.SqsQueueParameters.BatchSize', 1);
    expect(at(queue, 'KmsMasterKeyId')).toEqual(key);
  });

  it('are passed on by a role that may read this queue, decrypt, and write to this bus, and no more', () => {
    const role = roleOf(template, 'pipes.amazonaws.com', 'eventbusdefault');
    expect(Object.fromEntries(permissions(role))).toEqual({
      'sqs:ReceiveMessage': [arnOf(queueId)],
      'sqs:DeleteMessage': [arnOf(queueId)],
      'sqs:GetQueueAttributes': [arnOf(queueId)],
      'kms:Decrypt': [key],
      'events:PutEvents': [arnOfBus],
    });
    expect(statementsOf(role)).toContainEqual(
      expect.objectContaining({
        Action: 'kms:Decrypt',
        Condition: { StringEquals: { 'kms:ViaService': expect.anything() } },
      }),
    );
    expect(at(role, 'Properties', 'AssumeRolePolicyDocument', 'Statement')).toMatchObject([
      {
        Principal: { Service: 'pipes.amazonaws.com' },
        Condition: {
          StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
          ArnLike: { 'aws:SourceArn': expect.anything() },
        },
      },
    ]);
  });

  it('are on the dashboard, and set off an alarm as dead letters or while they wait for a stopped pipe', () => {
    const [letters] = listAt(queue, 'RedrivePolicy', 'deadLetterTargetArn', 'Fn::GetAtt');
    for (const [id, Statistic] of [
      [letters, 'Maximum'],
      [queueId, 'Minimum'],
    ])
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        // The age leaves out messages that were received three times.
        MetricName: 'ApproximateNumberOfMessagesVisible',
        Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [id, 'QueueName'] } }],
        ...{ Statistic, Threshold: 1, EvaluationPeriods: Statistic === 'Minimum' ? 3 : 1 },
        TreatMissingData: 'notBreaching',
        AlarmActions: [{ Ref: topicOf(template, 'operations') }],
      });
    const { resource } = only(template, 'AWS::CloudWatch::Dashboard');
    expect(JSON.stringify(resource)).toContain('the event bus default');
  });

  it('have no queue to which a command may send, so a replay to all subscribers reaches the bus, too', () => {
    for (const one of every(template, 'AWS::IAM::Role'))
      expect([...permissions(one).keys()]).not.toContain('sqs:GetQueueUrl');
  });
});
