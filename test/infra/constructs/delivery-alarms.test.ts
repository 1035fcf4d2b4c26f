import { describe, expect, it } from 'vitest';
import { at, district, listAt, only, synthesized } from '../synthesized.ts';

const pagerTopicArn = 'arn:aws:sns:us-east-1:111122223333:pager';
const plain = synthesized({ integrations: [district] });
const watched = synthesized({
  integrations: [district],
  pagerTopicArn,
  subscriptions: [{ topic: 'alerts', protocol: 'https', endpoint: 'https://hook.example.org/x' }],
});
const topicOf = (template: typeof plain, name: string) =>
  only(template, 'AWS::SNS::Topic', { DisplayName: name }).id;
const displayNames = {
  events: 'Certification events',
  alerts: 'Certification alerts',
  operations: 'Certification notifier operations',
};

function alarmOn(template: typeof plain, topic: keyof typeof displayNames, MetricName: string) {
  const TopicName = { 'Fn::GetAtt': [topicOf(template, displayNames[topic]), 'TopicName'] };
  return at(
    only(template, 'AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/SNS',
      MetricName,
      Dimensions: [{ Name: 'TopicName', Value: TopicName }],
    }).resource,
    'Properties',
  );
}

const failed = 'NumberOfNotificationsFailed';
const lost = 'NumberOfNotificationsFailedToRedriveToDlq';
const once = {
  Statistic: 'Sum',
  Period: 300,
  EvaluationPeriods: 1,
  Threshold: 1,
  ComparisonOperator: 'GreaterThanOrEqualToThreshold',
  TreatMissingData: 'notBreaching',
};

describe('the alarms on failed deliveries of SNS', () => {
  it.each([
    ['events', failed],
    ['events', lost],
    ['alerts', failed],
    ['alerts', lost],
    ['operations', failed],
  ] as const)('go off with the first message of %s that is in %s', (topic, metric) => {
    expect(alarmOn(plain, topic, metric)).toMatchObject(once);
  });

  it('wait a quarter of an hour if a webhook subscribes, since SNS counts each of its attempts', () => {
    expect(alarmOn(watched, 'alerts', failed)).toMatchObject({ ...once, EvaluationPeriods: 3 });
    expect(alarmOn(watched, 'alerts', lost)).toMatchObject(once);
    expect(alarmOn(watched, 'events', failed)).toMatchObject(once);
  });

  it('also send their end to the operations topic, except the one about this topic', () => {
    const operations = [{ Ref: topicOf(plain, displayNames.operations) }];
    for (const topic of ['events', 'alerts'] as const)
      expect(alarmOn(plain, topic, failed)).toMatchObject({
        AlarmActions: operations,
        OKActions: operations,
      });
    const own = alarmOn(plain, 'operations', failed);
    expect(own).toMatchObject({ AlarmActions: operations });
    expect(listAt(own, 'OKActions')).toEqual([]);
  });

  it('include lost messages of operations that a webhook hides from the waiting alarm', () => {
    const endpoint = 'https://hook.example.org/x';
    const hooked = synthesized({
      integrations: [district],
      pagerTopicArn,
      subscriptions: [{ topic: 'operations', protocol: 'https', endpoint }],
    });
    expect(alarmOn(hooked, 'operations', failed)).toMatchObject({ EvaluationPeriods: 3 });
    const alarm = alarmOn(hooked, 'operations', lost);
    expect(alarm).toMatchObject(once);
    expect(listAt(alarm, 'AlarmActions')).toContain(pagerTopicArn);
    expect(listAt(alarm, 'OKActions')).toEqual([pagerTopicArn]);
  });

  it('tell the pager that ops cannot be told', () => {
    const own = alarmOn(watched, 'operations', failed);
    expect(listAt(own, 'AlarmActions')).toContain(pagerTopicArn);
    expect(listAt(own, 'OKActions')).toEqual([pagerTopicArn]);
    expect(listAt(alarmOn(watched, 'events', failed), 'AlarmActions')).toHaveLength(1);
  });
});
