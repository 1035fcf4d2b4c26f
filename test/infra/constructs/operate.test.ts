import { describe, expect, it } from 'vitest';
import { at, district, listAt, only, permissions, roleOf, synthesized } from '../synthesized.ts';

const theirs = 'arn:aws:sqs:us-east-1:111122223333:certifications';

const template = synthesized({
  integrations: [district, { ...district, name: 'district-b' }],
  subscriptions: [
    { topic: 'events', protocol: 'sqs', endpoint: theirs },
    { topic: 'events', protocol: 'sqs', endpoint: { newQueue: 'ours' } },
    { topic: 'alerts', protocol: 'sqs', endpoint: 'arn:aws:sqs:us-east-1:111122223333:people' },
  ],
});

const operate = only(template, 'AWS::Lambda::Function', {
  Description: 'Commands of ops for district-a: status, release, replay and more',
});
const poll = only(template, 'AWS::Lambda::Function', {
  Description: 'One tick: announces changes among the assessments of district-a',
});

describe('the operate function', () => {
  it('answers before the AWS CLI gives up waiting and invokes it again', () => {
    expect(at(operate.resource, 'Properties', 'Timeout')).toBeLessThan(60);
  });

  it('runs a command once, even if the caller does not wait', () => {
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: operate.id },
      MaximumEventAgeInSeconds: 60,
      MaximumRetryAttempts: 0,
    });
  });

  it('runs in the same place as the ticks, with the same settings', () => {
    const told = ['Runtime', 'Architectures', 'LoggingConfig', 'Environment'];
    for (const property of told)
      expect(at(operate.resource, 'Properties', property)).toEqual(
        at(poll.resource, 'Properties', property),
      );
  });

  it('does not take the place of a tick', () => {
    expect(at(operate.resource, 'Properties', 'ReservedConcurrentExecutions')).toBeUndefined();
    expect(at(operate.resource, 'Properties', 'Role')).not.toEqual(
      at(poll.resource, 'Properties', 'Role'),
    );
  });

  it('is named in the outputs, one for each integration', () => {
    expect(
      at(template.findOutputs('OperateFunctionDistrictA'), 'OperateFunctionDistrictA'),
    ).toEqual(expect.objectContaining({ Value: { Ref: operate.id } }));
    expect(Object.keys(template.findOutputs('OperateFunction*'))).toHaveLength(0);
    expect(Object.keys(template.findOutputs('OperateFunctionDistrictB'))).toHaveLength(1);
  });

  it("has a tick's permissions, and may find events, read the topics and fill subscribed queues, and no more", () => {
    const granted = permissions(roleOf(template, 'lambda.amazonaws.com', 'districtaOperate'));
    const ticks = permissions(roleOf(template, 'lambda.amazonaws.com', 'districtaPoll'));
    const topics = ['Events', 'Alerts', 'Operations'].map((name) => ({
      Ref: expect.stringContaining(name),
    }));
    const key = { 'Fn::GetAtt': [expect.stringContaining('TopicsKey'), 'Arn'] };
    const queues = [{ 'Fn::GetAtt': [expect.stringContaining('newqueueours'), 'Arn'] }, theirs];
    const indexes = ticks.get('dynamodb:Query') ?? [];
    const byEvent = JSON.parse(JSON.stringify(indexes[0]).replace('by-day', 'by-event'));
    expect(Object.fromEntries(granted)).toEqual({
      ...Object.fromEntries(ticks),
      'dynamodb:Query': expect.arrayContaining([...indexes, byEvent]),
      'sns:GetTopicAttributes': expect.arrayContaining(topics),
      'sns:ListSubscriptionsByTopic': expect.arrayContaining(topics),
      'kms:DescribeKey': [key],
      'kms:GetKeyPolicy': [key],
      'sqs:GetQueueAttributes': expect.arrayContaining(queues),
      'sqs:GetQueueUrl': expect.arrayContaining(queues),
      'sqs:SendMessage': expect.arrayContaining(queues),
    });
    expect(granted.get('dynamodb:Query')).toHaveLength(3);
    expect(granted.get('sqs:SendMessage')).toHaveLength(2);
  });

  it('may use no queue if none is subscribed to events', () => {
    const alone = synthesized({ integrations: [district] });
    const role = roleOf(alone, 'lambda.amazonaws.com', 'districtaOperate');
    const actions = [...permissions(role).keys()];
    expect(actions.filter((action) => action.startsWith('sqs:'))).toEqual([]);
    expect(listAt(role, 'Properties', 'Policies')).toHaveLength(1);
  });
});
