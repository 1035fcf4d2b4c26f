import { describe, expect, it } from 'vitest';
import { expectOneLine, problemsOf, type Refusal, withFilter, withQueue } from './settings.ts';

describe('a filter', () => {
  it('may filter by any name that can be sent', () => {
    expect(problemsOf(withFilter({ assessments: ['Säker 🪢', '救命講習\ufffd'] }))).toEqual([]);
  });

  it('may have as many values as SNS accepts', () => {
    const organizations = Array.from({ length: 75 }, (_, index) => index + 1);
    expect(problemsOf(withFilter({ types: ['created', 'updated'], organizations }))).toEqual([]);
  });
});

describe('a wrong filter is named with its place, its value and the allowed values', () => {
  it.each<Refusal>([
    ...['CPR \ud800', '\udc00', 'CPR\ufffe', 'CPR\uffff', 'CPR\u0000'].map(
      (name): Refusal => [
        `the assessment ${JSON.stringify(name)}`,
        withFilter({ assessments: [name] }),
        'subscriptions[0].filter.assessments[0]:',
        'an assessment name',
      ],
    ),
    [
      'too many values of one key',
      withFilter({ organizations: Array.from({ length: 151 }, (_, index) => index + 1) }),
      'subscriptions[0].filter.organizations: a list of 151 found',
      'at most 150',
    ],
    ['an empty filter', withFilter({}), 'subscriptions[0].filter: an object found', 'at least one'],
    [
      'an organization twice in a filter',
      withFilter({ organizations: [7, 8, 7] }),
      'subscriptions[0].filter.organizations[2]: 7 found',
      'does not have yet',
    ],
    [
      'an organization beyond the range that SNS compares',
      withFilter({ organizations: [1_000_000_001] }),
      'subscriptions[0].filter.organizations[0]: 1000000001 found',
      'from 1 to 1000000000',
    ],
    [
      'an assessment name longer than names are',
      withFilter({ assessments: ['Rope '.repeat(60)] }),
      'subscriptions[0].filter.assessments[0]:',
      'at most 256 characters',
    ],
    [
      "a filter on people's mail",
      withQueue({ topic: 'alerts', filter: { late: true } }),
      'subscriptions[0].filter: an object found',
      "only messages of the topic 'events'",
    ],
    [
      'an unknown kind of change',
      withFilter({ types: ['deleted'] }),
      'subscriptions[0].filter.types[0]: "deleted" found',
      "'withdrawn'",
    ],
    [
      'a filter for nothing',
      withFilter({ types: [] }),
      'subscriptions[0].filter.types: a list of 0 found',
      'at least one',
    ],
    [
      'an organization by name',
      withFilter({ organizations: ['Larkspur'] }),
      'subscriptions[0].filter.organizations[0]: "Larkspur" found',
      'an organization id',
    ],
    [
      'more combinations than SNS accepts',
      withFilter({
        types: ['created', 'updated'],
        organizations: Array.from({ length: 76 }, (_, index) => index + 1),
      }),
      'subscriptions[0].filter: an object found',
      'at most 150 combinations, not 152 ',
    ],
  ])('%s', (_what, input, found, allowed) => expectOneLine(input, found, allowed));
});
