import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runbookPage } from '../../infra/constructs/operations-alarm.ts';
import { at, district, synthesized } from './synthesized.ts';

const page = readFileSync(new URL(`../../${runbookPage}`, import.meta.url), 'utf8');

/** With every part that brings an alarm. */
const template = synthesized({
  integrations: [{ ...district, baseline: 'fan-out' }],
  pagerTopicArn: 'arn:aws:sns:us-east-1:111122223333:pager',
  subscriptions: [{ topic: 'events', protocol: 'sqs', endpoint: { newQueue: 'payroll' } }],
});
const descriptions = ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::CompositeAlarm']
  .flatMap((type) => Object.values(template.findResources(type)))
  .map((alarm) => String(at(alarm, 'Properties', 'AlarmDescription')));

/** As GitHub makes them of headings. */
const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(' ', '-');
const anchorsOf = (text: string, level: string) =>
  [...text.matchAll(new RegExp(`^${level} (.+)$`, 'gm'))].map(([, heading = '']) =>
    anchorOf(heading),
  );
const [, alarms = ''] = page.match(/\n## Alarms\n(.*?)\n## /s) ?? [];
const named = descriptions.map((text) => /^Runbook: docs\/operations\.md#(\S+)$/m.exec(text)?.[1]);

describe('the runbook', () => {
  it('has an entry for every alarm, which says where', () => {
    expect(named).not.toContain(undefined);
    expect(anchorsOf(alarms, '###')).toEqual(expect.arrayContaining(named));
  });

  it('has no entry for an alarm that does not exist', () => {
    expect([...new Set(named)].sort()).toEqual(anchorsOf(alarms, '###').sort());
  });

  it('links to headings that it has', () => {
    const anchors = [...anchorsOf(page, '##'), ...anchorsOf(page, '###')];
    const linked = [...page.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor);
    expect(anchors).toEqual(expect.arrayContaining(linked));
  });
});

it('a description fits into what CloudWatch takes', () => {
  for (const description of descriptions) expect(description.length).toBeLessThanOrEqual(1_024);
});
