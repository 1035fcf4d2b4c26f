import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { conditionNotice } from '../../../lambda/delivery/notices.ts';
import {
  type ConditionName,
  conditionNames,
  type OpenCondition,
} from '../../../lambda/detection/conditions.ts';
import { headingOf } from '../../../scripts/conditions-page.ts';

const settings = {
  name: 'district-a',
  timeZone: 'America/Chicago',
  stack: 'certification-notifier',
};
const since = Date.parse('2026-11-21T08:00:04Z');
const now = Date.parse('2026-11-22T09:30:00Z');

const details: Partial<Record<ConditionName, readonly string[]>> = {
  held: [
    'The first 600 of them, by kind:',
    '  created: 580',
    '  updated: 20',
    'By organization:',
    '  7: 600',
    'By year of completion:',
    '  2026: 600',
  ],
  'shown-by-id': ['assessment 48213 of 2026-11-19'],
  silent: [
    'no certification since 2026-11-12 (9 days); the longest silence of the past 13 months was 5 days',
  ],
  quarantined: ['assessment 48213: certified_on (invalid_format)'],
  'odd-fields': ['email: 214 records', 'results[].proctor_name: 1 record'],
  unproven: ['2026-11-19: 1204 assessments expected'],
};

function letter(name: ConditionName, condition: Partial<OpenCondition>) {
  const { subject, text } = conditionNotice(
    settings,
    name,
    { since, number: 600, ...condition },
    now,
  );
  return `Subject: ${subject}\n\n${text}`;
}

const approved = (name: string) => `notices/${name}.approved.txt`;

describe('the notice that ops read', () => {
  it.each(conditionNames)('at the beginning of the condition %s', async (name) => {
    const text = letter(name, { owes: 'begins', details: details[name] ?? [] });
    await expect(text).toMatchFileSnapshot(approved(name));
  });

  it('at the end of each condition', async () => {
    const all = conditionNames.map((name) => letter(name, { owes: 'ends' }));
    await expect(all.join('\n-----\n')).toMatchFileSnapshot(approved('over'));
  });

  it('after a condition that ended within its first quarter of an hour', async () => {
    const goneAt = since + 7 * 60_000;
    const text = letter('partner-silent', { owes: 'was', goneAt });
    await expect(text).toMatchFileSnapshot(approved('was'));
  });

  it('of a growing condition', async () => {
    const text = letter('held', { owes: 'grows', details: details.held ?? [] });
    await expect(text).toMatchFileSnapshot(approved('held-more'));
  });

  it.each(conditionNames)('is explained in the documentation: %s', async (name) => {
    const page = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const { subject } = conditionNotice(settings, name, { since, number: 1 }, now);
    const [, section = ''] = page.split(`\n### ${headingOf(name)}\n`);
    expect(section.split('\n### ')[0]).toContain(`; "${subject.replace('district-a: ', '')}".`);
  });

  it.each(conditionNames)('has a subject that SNS accepts: %s', (name) => {
    for (const owes of ['begins', 'grows', 'ends'] as const) {
      const longest = { ...settings, name: 'x'.repeat(40) };
      const { subject } = conditionNotice(longest, name, { since, number: 1, owes }, now);
      expect(subject).toMatch(/^[\x21-\x7E][\x20-\x7E]{0,98}$/);
    }
  });
});
