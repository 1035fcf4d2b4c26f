import { readFileSync } from 'node:fs';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { runbookPage } from '../../infra/constructs/runbook.ts';
import { conditions, noticed } from '../../lambda/condition-table.ts';
import { addresses, archive, bus, pagerTopicArn, queue } from './config/settings.ts';
import { at, district, every, listAt, synthesized } from './synthesized.ts';

const page = readFileSync(new URL(`../../${runbookPage}`, import.meta.url), 'utf8');

/** Has each part that adds an alarm. */
const everyAlarm = {
  integrations: [{ ...district }],
  pagerTopicArn,
  subscriptions: [
    { ...queue, endpoint: { newQueue: 'payroll' } },
    bus,
    archive,
    { topic: 'operations', protocol: 'https', endpoint: addresses.https },
  ],
};
const descriptionsOf = (template: Template) =>
  ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::CompositeAlarm']
    .flatMap((type) => Object.values(template.findResources(type)))
    .map((alarm) => String(at(alarm, 'Properties', 'AlarmDescription')));
const template = synthesized(everyAlarm);
const descriptions = descriptionsOf(template);

/** GitHub makes anchors of headings like this. */
const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(' ', '-');
const [, alarms = ''] = page.match(/\n## Alarms and notices\n(.*?)\n## /s) ?? [];
const entryOf = (description: unknown) =>
  /^Runbook: docs\/operations\.md#(\S+)$/m.exec(String(description))?.[1];
const named = descriptions.map(entryOf);

/** Entries of the alarms that ring the pager. */
function heardByPager(): (string | undefined)[] {
  const found = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
  const rules = JSON.stringify(template.findResources('AWS::CloudWatch::CompositeAlarm'));
  return found
    .filter(
      ([id, alarm]) =>
        rules.includes(`"${id}"`) ||
        listAt(alarm, 'Properties', 'AlarmActions').includes(pagerTopicArn),
    )
    .map(([, alarm]) => entryOf(at(alarm, 'Properties', 'AlarmDescription')));
}

describe('the runbook', () => {
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

  it('is the page of each alarm, after its impact, the likely causes and the next step', () => {
    const parts = /Impact: .*\nLikely: .*\nDo: .*\nRunbook: /;
    for (const alarm of every(template, 'AWS::CloudWatch::Alarm'))
      expect(at(alarm, 'Properties', 'AlarmDescription')).toMatch(parts);
  });

  it('has an entry for each condition, and no other', () => {
    const headings = [...alarms.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading);
    expect(headings.map(anchorOf).sort()).toEqual(Object.keys(conditions()).sort());
  });
});

describe('a condition', () => {
  const all = Object.entries(conditions());

  it('reaches ops by a notice or an alarm, and has the alarm that it names', () => {
    for (const [name, { alarm }] of all) {
      if (alarm) expect(named).toContain(alarm);
      else expect(Object.hasOwn(noticed, name)).toBe(true);
    }
  });

  it('with its own alarm has one in the stack, and each alarm in the stack belongs to one', () => {
    const own = all.filter(([name, { alarm }]) => alarm === name).map(([name]) => name);
    expect([...new Set(named)].sort()).toEqual(own.sort());
  });
});

it('an alarm leads to the notice of the same condition', () => {
  const leading = descriptions.filter((text) => text.includes('notice on the operations topic'));
  const withNotice = named.filter((name) => name && Object.hasOwn(noticed, name));
  expect(leading.map(entryOf)).toEqual(expect.arrayContaining(withNotice));
});

it("a description fits into CloudWatch's limit, with the longest names and URL", () => {
  const host = 'd'.repeat(249);
  const name = `${'f'.repeat(64)}:${'v'.repeat(28)}`;
  const long = synthesized({
    ...everyAlarm,
    stackName: 's'.repeat(128),
    integrations: [{ ...district, name: 'd'.repeat(40) }],
    runbookUrl: `https://wiki.example.org/${'r'.repeat(175)}`,
    subscriptions: [
      { topic: 'alerts', protocol: 'email', endpoint: `a@${'d'.repeat(314)}.org` },
      { topic: 'alerts', protocol: 'https', endpoint: `https://${host}.org:8443/` },
      { topic: 'alerts', protocol: 'lambda', endpoint: addresses.lambda.replace(/[^:]+$/, name) },
    ],
  });
  const longest = Math.max(...descriptionsOf(long).map((description) => description.length));
  expect(longest).toBeGreaterThan(900);
  expect(longest).toBeLessThanOrEqual(1_024);
});
