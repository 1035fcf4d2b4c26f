import { readFileSync } from 'node:fs';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { runbookPage } from '../../infra/constructs/runbook.ts';
import { conditions, noticed } from '../../lambda/condition-table.ts';
import { at, district, listAt, synthesized } from './synthesized.ts';

const page = readFileSync(new URL(`../../${runbookPage}`, import.meta.url), 'utf8');

/** Has each part that adds an alarm. */
const everyAlarm = {
  integrations: [{ ...district, baseline: 'fan-out' }],
  pagerTopicArn: 'arn:aws:sns:us-east-1:111122223333:pager',
  subscriptions: [
    { topic: 'events', protocol: 'sqs', endpoint: { newQueue: 'payroll' } },
    { topic: 'events', protocol: 'event-bus', bus: 'default' },
    { topic: 'events', protocol: 'archive' },
    { topic: 'operations', protocol: 'https', endpoint: 'https://hook.example.org/x' },
  ],
};
const descriptionsOf = (template: Template) =>
  ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::CompositeAlarm']
    .flatMap((type) => Object.values(template.findResources(type)))
    .map((alarm) => String(at(alarm, 'Properties', 'AlarmDescription')));
const descriptions = descriptionsOf(synthesized(everyAlarm));

/** GitHub makes anchors of headings like this. */
const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(' ', '-');
const anchorsOf = (text: string, level: string) =>
  [...text.matchAll(new RegExp(`^${level} (.+)$`, 'gm'))].map(([, heading = '']) =>
    anchorOf(heading),
  );
const [, alarms = ''] = page.match(/\n## Alarms and notices\n(.*?)\n## /s) ?? [];
const entryOf = (description: unknown) =>
  /^Runbook: docs\/operations\.md#(\S+)$/m.exec(String(description))?.[1];
const named = descriptions.map(entryOf);

/** Entries of the alarms that ring the pager. */
function heardByPager(): (string | undefined)[] {
  const template = synthesized(everyAlarm);
  const found = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
  const rules = JSON.stringify(template.findResources('AWS::CloudWatch::CompositeAlarm'));
  return found
    .filter(
      ([id, alarm]) =>
        rules.includes(`"${id}"`) ||
        listAt(alarm, 'Properties', 'AlarmActions').includes(everyAlarm.pagerTopicArn),
    )
    .map(([, alarm]) => entryOf(at(alarm, 'Properties', 'AlarmDescription')));
}

describe('the runbook', () => {
  it('has an entry for each alarm, with its place', () => {
    expect(named).not.toContain(undefined);
    expect(anchorsOf(alarms, '###')).toEqual(expect.arrayContaining(named));
  });

  it('lists the alarms that the pager hears under Paged', () => {
    const [, paged = ''] = alarms.match(/\n### Paged\n(.*?)\n### /s) ?? [];
    const linked = [...paged.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor);
    expect(linked.sort()).toEqual(heardByPager().sort());
  });

  it('says "now" of these, of those behind them, and of no other', () => {
    // Refused ticks do not complete, so the pager hears of them as well.
    const waking = new Set([...heardByPager(), 'refused', 'paged']);
    const entries = Object.entries(conditions());
    const now = entries.filter(([, { act }]) => act.startsWith('now')).map(([name]) => name);
    const expected = entries.filter(([name, { alarm = name }]) => waking.has(alarm));
    expect(now).toEqual(expected.map(([name]) => name));
  });

  it('never has people on call compare templates to find changes by hand', () => {
    for (const text of [alarms, ...descriptions])
      expect(text).not.toMatch(/cdk diff|deploy again/i);
  });

  it('has an entry for each condition, and no other', () => {
    expect(anchorsOf(alarms, '###').sort()).toEqual(Object.keys(conditions()).sort());
  });

  it('has links to its own headings only', () => {
    const anchors = [...anchorsOf(page, '##'), ...anchorsOf(page, '###')];
    const linked = [...page.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor);
    expect(anchors).toEqual(expect.arrayContaining(linked));
  });
});

describe('a condition', () => {
  it.each(Object.entries(conditions()))(
    'reaches ops by a notice or an alarm: %s',
    (name, { alarm }) => {
      expect(Object.hasOwn(noticed, name) || named.includes(alarm)).toBe(true);
    },
  );

  it.each(Object.entries(conditions()))('has the alarm that it names: %s', (_, { alarm }) => {
    if (alarm) expect(named).toContain(alarm);
  });

  it('with its own alarm has one in the stack, and each alarm in the stack belongs to one', () => {
    const own = Object.entries(conditions()).filter(([name, { alarm }]) => alarm === name);
    expect([...new Set(named)].sort()).toEqual(own.map(([name]) => name).sort());
  });
});

it('an alarm leads to the notice of the same condition', () => {
  const leading = descriptions.filter((text) => text.includes('notice on the operations topic'));
  const withNotice = named.filter((name) => name && Object.hasOwn(noticed, name));
  expect(leading.map(entryOf)).toEqual(expect.arrayContaining(withNotice));
});

describe('a runbook elsewhere', () => {
  it('is linked by each alarm, at its entry', () => {
    const runbookUrl = 'https://wiki.example.org/notifier/operations';
    const links = descriptionsOf(synthesized({ ...everyAlarm, runbookUrl })).map(
      (text) => /^Runbook: (.*)$/m.exec(text)?.[1],
    );
    expect(links).toEqual(named.map((anchor) => `${runbookUrl}#${anchor}`));
  });
});

it("a description fits into CloudWatch's limit, with the longest names and URL", () => {
  const long = synthesized({
    ...everyAlarm,
    stackName: 's'.repeat(128),
    integrations: [{ ...district, name: 'd'.repeat(40), baseline: 'fan-out' }],
    runbookUrl: `https://wiki.example.org/${'r'.repeat(175)}`,
    subscriptions: [
      { topic: 'alerts', protocol: 'email', endpoint: `a@${'d'.repeat(314)}.org` },
      { topic: 'alerts', protocol: 'https', endpoint: `https://${'d'.repeat(249)}.org:8443/` },
      {
        topic: 'alerts',
        protocol: 'lambda',
        endpoint: `arn:aws:lambda:us-east-1:111122223333:function:${'f'.repeat(64)}:${'v'.repeat(28)}`,
      },
    ],
  });
  const lengths = descriptionsOf(long).map((description) => description.length);
  expect(Math.max(...lengths)).toBeGreaterThan(900);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(1_024);
});
