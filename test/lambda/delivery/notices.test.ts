import { describe, expect, it } from 'vitest';
import {
  type ConditionName,
  conditionNames,
  type OpenCondition,
} from '../../../lambda/decisions/conditions.ts';
import { conditionNotice } from '../../../lambda/delivery/notices.ts';

const settings = {
  name: 'district-a',
  timeZone: 'America/Chicago',
  stack: 'certification-notifier',
};
const since = Date.parse('2026-11-21T08:00:04Z');
const now = Date.parse('2026-11-22T09:30:00Z');

const details: Partial<Record<ConditionName, readonly string[]>> = {
  held: [
    'New ones are held, too, until 2026-11-21 03:10 (America/Chicago), or until release --for 1h.',
    'The first 600 of them, by kind:',
    '  created: 580',
    '  updated: 20',
    'By organization:',
    '  7: 600',
    'By year of completion:',
    '  2026: 600',
  ],
  'one-id-twice': ['assessment 48213 of 2026-11-19'],
  'shown-by-id': ['assessment 48213 of 2026-11-19'],
  'unanswered-by-id': ['assessment 48213 of 2026-11-19'],
  silent: [
    'no certification since 2026-11-12 (9 days); the longest silence of the past 13 months was 5 days',
  ],
  quarantined: ['assessment 48213: certified_on (invalid_format)'],
  'odd-fields': ['email: 214 records', 'results[].proctor_name: 1 record'],
  unproven: ['2026-11-19: 1204 assessments expected'],
};

const noticeOf = (name: ConditionName, condition: Partial<OpenCondition>, of = settings) =>
  conditionNotice(
    of,
    name,
    { since, number: 600, details: details[name] ?? [], ...condition },
    now,
  );

function letter(...of: Parameters<typeof noticeOf>): string {
  const { subject, text } = noticeOf(...of);
  return `Subject: ${subject}\n\n${text}`;
}

describe('the notice that ops read', () => {
  const ends = conditionNames.map((name) => letter(name, { owes: 'ends' })).join('\n-----\n');
  const was = letter('partner-silent', { owes: 'was', goneAt: since + 7 * 60_000 });

  it.each([
    ...conditionNames.map((name) => [name, letter(name, { owes: 'begins' })] as const),
    ['held-more', letter('held', { owes: 'grows' })],
    ['over', ends],
    ['was', was],
  ] as const)('of %s is the approved one', async (name, text) => {
    await expect(text).toMatchFileSnapshot(`notices/${name}.approved.txt`);
  });

  it.each(conditionNames)('has a subject that SNS accepts: %s', (name) => {
    const longest = { ...settings, name: 'x'.repeat(40) };
    for (const owes of ['begins', 'grows', 'ends'] as const)
      expect(noticeOf(name, { owes }, longest).subject).toMatch(/^[\x21-\x7E][\x20-\x7E]{0,98}$/);
  });
});
