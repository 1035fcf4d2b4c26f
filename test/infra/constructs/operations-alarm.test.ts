import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { metrics } from '../../../lambda/names.ts';
import { at, district, listAt, only, synthesized } from '../synthesized.ts';

const pagerTopicArn = 'arn:aws:sns:us-east-1:111122223333:pager';
const other = { ...district, name: 'district-b' };
const plain = synthesized({ integrations: [district, other] });
const watched = synthesized({ integrations: [district, other], pagerTopicArn });

describe('the pager', () => {
  const pages = Object.values(watched.findResources('AWS::CloudWatch::CompositeAlarm'));

  it('hears once for each integration, of any urgent alarm', () => {
    expect(pages).toHaveLength(2);
    for (const page of pages) {
      expect(at(page, 'Properties', 'AlarmActions')).toEqual([pagerTopicArn]);
      expect(at(page, 'Properties', 'OKActions')).toEqual([pagerTopicArn]);
      const rule = JSON.stringify(at(page, 'Properties', 'AlarmRule'));
      expect(rule.match(/Failing|NoCompletedTick|Undelivered/g)).toHaveLength(3);
      expect(rule).not.toMatch(/Held|Quarantined/);
    }
  });

  it('adds nothing if there is none', () => {
    plain.resourceCountIs('AWS::CloudWatch::CompositeAlarm', 0);
  });
});

describe('the alarms', () => {
  it('depend on the policies that let CloudWatch tell ops, since it does not tell a second time', () => {
    const operations = only(watched, 'AWS::SNS::Topic', {
      DisplayName: 'Certification notifier operations',
    });
    const policy = only(watched, 'AWS::SNS::TopicPolicy', { Topics: [{ Ref: operations.id }] });
    const alarms = Object.values(watched.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms.length).toBeGreaterThan(0);
    for (const alarm of alarms) expect(listAt(alarm, 'DependsOn')).toContain(policy.id);
  });

  it('report ticks that the scheduler could not start', () => {
    const queue = only(plain, 'AWS::SQS::Queue');
    plain.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queue.id, 'QueueName'] } }],
      Statistic: 'Maximum',
      Threshold: 1,
      EvaluationPeriods: 1,
      AlarmActions: Match.anyValue(),
    });
  });

  it("leave two weeks to read the scheduler's reasons", () => {
    const queue = only(plain, 'AWS::SQS::Queue');
    expect(at(queue.resource, 'Properties', 'MessageRetentionPeriod')).toBe(14 * 86_400);
  });

  it('report ticks that cannot start, when they are more than chance', () => {
    plain.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Lambda',
      MetricName: 'Throttles',
      Statistic: 'Sum',
      Threshold: 1,
      DatapointsToAlarm: 3,
      EvaluationPeriods: 5,
    });
  });

  it.each([
    [1, 300, 3],
    [5, 300, 3],
    [15, 900, 2],
    [60, 3_600, 2],
  ])(
    'report events undelivered for a quarter of an hour, at a tick every %i min',
    (every, Period, EvaluationPeriods) => {
      synthesized({ integrations: [{ ...district, every }] }).hasResourceProperties(
        'AWS::CloudWatch::Alarm',
        { MetricName: metrics.eventsUndelivered, Period, EvaluationPeriods, Threshold: 1 },
      );
    },
  );
});
