import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { maxIntegrations } from '../../infra/config/limits.ts';
import { metrics } from '../../lambda/names.ts';
import { at, district, listAt, only, synthesized } from './synthesized.ts';

const pagerTopicArn = 'arn:aws:sns:us-east-1:111122223333:pager';
const other = { ...district, name: 'district-b' };
const plain = synthesized({ integrations: [district, other] });
const watched = synthesized({
  integrations: [district, other],
  pagerTopicArn,
  permissionsBoundary: 'boundary',
});

/** The text of a dashboard, its references replaced by what they refer to. */
function dashboardOf(template: typeof plain): { text: string; widgets: readonly unknown[] } {
  const { resource } = only(template, 'AWS::CloudWatch::Dashboard');
  const text = listAt(resource, 'Properties', 'DashboardBody', 'Fn::Join', '1')
    .map((part) =>
      typeof part === 'string' ? part : String(Object.values(Object(part)).flat()[0]),
    )
    .join('');
  return { text, widgets: listAt(JSON.parse(text), 'widgets') };
}

describe('the pager', () => {
  const pages = Object.values(watched.findResources('AWS::CloudWatch::CompositeAlarm'));

  it('is told once for each integration, of any of the alarms that cannot wait', () => {
    expect(pages).toHaveLength(2);
    for (const page of pages) {
      expect(at(page, 'Properties', 'AlarmActions')).toEqual([pagerTopicArn]);
      expect(at(page, 'Properties', 'OKActions')).toEqual([pagerTopicArn]);
      const rule = JSON.stringify(at(page, 'Properties', 'AlarmRule'));
      expect(rule.match(/Failing|NoCompletedTick|Undelivered/g)).toHaveLength(3);
      expect(rule).not.toMatch(/Held|Quarantined/);
    }
  });

  it('costs nothing when there is none', () => {
    plain.resourceCountIs('AWS::CloudWatch::CompositeAlarm', 0);
  });
});

describe('the alarms', () => {
  it('tell of ticks that the scheduler could not start', () => {
    const queue = only(plain, 'AWS::SQS::Queue');
    plain.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queue.id, 'QueueName'] } }],
      AlarmActions: Match.anyValue(),
    });
  });

  it.each([
    ['refused credentials and missing provisioning', metrics.refused],
    ['days that stay unproven', metrics.daysUnproven],
    ['held events', metrics.eventsHeld],
  ])('tell of %s from the first tick that says so, and are quiet without data', (_, MetricName) => {
    plain.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName,
      Dimensions: [{ Name: 'integration', Value: 'district-a' }],
      Statistic: 'Maximum',
      Threshold: 1,
      EvaluationPeriods: 1,
      TreatMissingData: 'notBreaching',
    });
  });

  it('tell of ticks that cannot start, when it is more than bad luck', () => {
    plain.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Lambda',
      MetricName: 'Throttles',
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
    'tell of events undelivered for a quarter of an hour, at a tick every %i min',
    (every, Period, EvaluationPeriods) => {
      synthesized({ integrations: [{ ...district, every }] }).hasResourceProperties(
        'AWS::CloudWatch::Alarm',
        { MetricName: metrics.eventsUndelivered, Period, EvaluationPeriods, Threshold: 1 },
      );
    },
  );

  it('tell of events that SNS refuses for good', () => {
    plain.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: metrics.eventsUndeliverable,
      Dimensions: [{ Name: 'integration', Value: 'district-b' }],
    });
  });
});

describe('the dashboard', () => {
  it('answers four questions, and shows every metric of every integration', () => {
    const { text } = dashboardOf(plain);
    expect(text.match(/## [^\\]+/g)).toEqual([
      '## Are we up to date?',
      '## What has changed?',
      '## Is the partner well?',
      '## What does it cost?',
    ]);
    for (const name of ['district-a', 'district-b'])
      for (const metric of Object.values(metrics))
        expect(text).toContain(`"CertificationNotifier","${metric}","integration","${name}"`);
  });

  it('stays within what CloudWatch shows, with as many integrations as the config allows', () => {
    const { widgets } = dashboardOf(
      synthesized({
        integrations: Array.from({ length: maxIntegrations }, (_, index) => ({
          ...district,
          name: `district-${index}`,
        })),
      }),
    );
    const counts = widgets.map((widget) => listAt(widget, 'properties', 'metrics').length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(500);
    expect(counts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(2_500);
    const alarms = widgets.map((widget) => listAt(widget, 'properties', 'alarms').length);
    expect(Math.max(...alarms)).toBe(3 * maxIntegrations);
    expect(Math.max(...alarms)).toBeLessThanOrEqual(100);
  });

  it('can be left out', () => {
    const without = synthesized({ integrations: [district], dashboard: false });
    without.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
    expect(Object.keys(without.findOutputs('*'))).not.toContain('Dashboard');
  });
});

describe('a permissions boundary', () => {
  const boundaries = (template: typeof plain) =>
    Object.values(template.findResources('AWS::IAM::Role')).map((role) =>
      JSON.stringify(at(role, 'Properties', 'PermissionsBoundary')),
    );

  it('is set on every role, by name in the account that is deployed to', () => {
    expect(boundaries(watched)).toHaveLength(6);
    for (const boundary of boundaries(watched)) {
      expect(boundary).toContain('AWS::AccountId');
      expect(boundary).toContain(':policy/boundary');
    }
  });

  it('may be an ARN', () => {
    const arn = 'arn:aws:iam::111122223333:policy/teams/boundary';
    const template = synthesized({ integrations: [district], permissionsBoundary: arn });
    expect(new Set(boundaries(template))).toEqual(new Set([JSON.stringify(arn)]));
  });

  it('is on no role when none is configured', () => {
    expect(new Set(boundaries(plain))).toEqual(new Set([undefined]));
  });
});
