import { describe, expect, it } from 'vitest';
import { maxIntegrations } from '../../../infra/config/notifier.ts';
import { addresses, archive, bus, pagerTopicArn, queue, slack, times } from '../config/settings.ts';
import { at, district, every, listAt, only, synthesized, topicOf } from '../synthesized.ts';

const webhookOf = (topic: string) => ({ topic, protocol: 'https', endpoint: addresses.https });
/** The alarms of one integration without a pager are in approved/smallest.yaml. */
const watched = synthesized({
  integrations: [district, { ...district, name: 'district-b' }],
  pagerTopicArn,
  subscriptions: [
    webhookOf('alerts'),
    { ...queue, endpoint: { newQueue: 'payroll' } },
    bus,
    archive,
    { ...slack, topic: 'operations' },
  ],
});

/** An alarm on the deliveries of a topic, such as `alerts lost`. */
function deliveryAlarm(template: typeof watched, name: string): unknown {
  const found = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
  const id = `NotifierDeliveries${name.replaceAll(' ', '')}`;
  return found.find(([one]) => one.startsWith(id))?.[1].Properties;
}

describe('the pager', () => {
  it('hears once for each integration, of any urgent alarm', () => {
    const pages = every(watched, 'AWS::CloudWatch::CompositeAlarm');
    expect(pages).toHaveLength(2);
    for (const page of pages) {
      expect(at(page, 'Properties', 'AlarmActions')).toEqual([pagerTopicArn]);
      expect(at(page, 'Properties', 'OKActions')).toEqual([pagerTopicArn]);
      const rule = JSON.stringify(at(page, 'Properties', 'AlarmRule'));
      expect(rule.match(/Failing|NoCompletedTick|Undelivered/g)).toHaveLength(3);
      expect(rule).not.toMatch(/Held|Quarantined/);
    }
  });

  it('hears that ops cannot be told, and of no other delivery', () => {
    const own = deliveryAlarm(watched, 'operations not delivered');
    expect(listAt(own, 'AlarmActions')).toContain(pagerTopicArn);
    expect(listAt(own, 'OKActions')).toEqual([pagerTopicArn]);
    for (const other of ['events not delivered', 'events lost', 'alerts not delivered'])
      expect(listAt(deliveryAlarm(watched, other), 'AlarmActions')).not.toContain(pagerTopicArn);
  });
});

describe('the alarms', () => {
  it('depend on the policies that let CloudWatch tell ops, since it does not tell a second time', () => {
    const operations = topicOf(watched, 'operations');
    const policy = only(watched, 'AWS::SNS::TopicPolicy', { Topics: [{ Ref: operations }] });
    const alarms = every(watched, 'AWS::CloudWatch::Alarm');
    expect(alarms.length).toBeGreaterThan(20);
    for (const alarm of alarms) {
      expect(listAt(alarm, 'DependsOn')).toContain(policy.id);
      expect(listAt(alarm, 'Properties', 'AlarmActions')).toContainEqual({ Ref: operations });
    }
  });

  it('on failed deliveries wait a quarter of an hour if a webhook subscribes, since SNS counts each of its attempts', () => {
    expect(deliveryAlarm(watched, 'alerts not delivered')).toMatchObject({ EvaluationPeriods: 3 });
    expect(deliveryAlarm(watched, 'alerts lost')).toMatchObject({ EvaluationPeriods: 1 });
    expect(deliveryAlarm(watched, 'events not delivered')).toMatchObject({ EvaluationPeriods: 1 });
  });

  it('tell the pager of lost notices if a webhook subscribes to operations', () => {
    const subscriptions = [webhookOf('operations')];
    const hooked = synthesized({ integrations: [district], pagerTopicArn, subscriptions });
    expect(deliveryAlarm(hooked, 'operations not delivered')).toMatchObject({
      EvaluationPeriods: 3,
    });
    const AlarmActions = expect.arrayContaining([pagerTopicArn]);
    const told = { EvaluationPeriods: 1, AlarmActions, OKActions: [pagerTopicArn] };
    expect(deliveryAlarm(hooked, 'operations lost')).toMatchObject(told);
  });
});

describe('the dashboard', () => {
  it("stays within CloudWatch's limits with the most integrations of a configuration", () => {
    const one = (index: number) => ({ ...district, name: `district-${index}` });
    const integrations = times(maxIntegrations, one);
    const { resource } = only(synthesized({ integrations }), 'AWS::CloudWatch::Dashboard');
    const text = listAt(resource, 'Properties', 'DashboardBody', 'Fn::Join', '1').map((part) =>
      typeof part === 'string' ? part : 'a reference',
    );
    const widgets = listAt(JSON.parse(text.join('')), 'widgets');
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
