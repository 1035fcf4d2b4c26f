import { describe, it } from 'vitest';
import { maxIntegrations } from '../../../infra/config/limits.ts';
import { district, expectOneLine, type Refusal } from './settings.ts';

describe('a wrong setting of a notifier is named with its place, its value and the allowed values', () => {
  it.each<Refusal>([
    [
      'no configuration',
      undefined,
      'the configuration: nothing found',
      'an object with integrations',
    ],
    ['no integrations', {}, 'integrations: nothing found', `1 to ${maxIntegrations} integrations`],
    [
      'an empty list',
      { integrations: [] },
      'integrations: a list of 0 found',
      `1 to ${maxIntegrations}`,
    ],
    [
      'too many integrations',
      {
        integrations: Array.from({ length: maxIntegrations + 1 }, (_, index) => ({
          ...district,
          name: `district-${index}`,
        })),
      },
      `integrations: a list of ${maxIntegrations + 1} found`,
      `at most ${maxIntegrations}`,
    ],
    [
      'another kind of topic',
      { integrations: [district], topic: 'FIFO' },
      'topic: "FIFO" found',
      "one of 'standard', 'fifo'",
    ],
    [
      'an unknown setting at the top',
      { integrations: [district], retention: 5 },
      'retention: unknown setting',
      'logRetentionDays',
    ],
    [
      "a key's alias for the topics",
      { integrations: [district], keyArn: 'arn:aws:kms:us-east-1:111122223333:alias/topics' },
      'keyArn: "arn:aws:kms:us-east-1:111122223333:alias/topics" found',
      'not of an alias',
    ],
    [
      'a FIFO topic for the pager',
      { integrations: [district], pagerTopicArn: 'arn:aws:sns:us-east-1:111122223333:pager.fifo' },
      'pagerTopicArn: "arn:aws:sns:us-east-1:111122223333:pager.fifo" found',
      'the ARN of a standard SNS topic',
    ],
    ...[
      'http://wiki.example.org/operations',
      'https://wiki.example.org/operations#alarms',
      'https://name:word@wiki.example.org/operations',
      'https://%%/operations',
      'https://wiki.example.org/?access_token=abc',
      'wiki.example.org/operations',
      'https://wiki.example.org/the operations',
      `https://wiki.example.org/${'r'.repeat(176)}`,
    ].map(
      (runbookUrl): Refusal => [
        `the runbook at ${runbookUrl}`,
        { integrations: [district], runbookUrl },
        'runbookUrl: ',
        'the https URL of a page',
      ],
    ),
    [
      'a retention that CloudWatch does not have',
      { integrations: [district], logRetentionDays: 31 },
      'logRetentionDays: 31 found',
      '1, 3, 5, 7',
    ],
    [
      'an account twice',
      { integrations: [district], subscriberAccounts: ['444455556666', '444455556666'] },
      'subscriberAccounts[1]: "444455556666" found',
      'does not have yet',
    ],
    [
      'a short account id',
      { integrations: [district], subscriberAccounts: ['123'] },
      'subscriberAccounts[0]: "123" found',
      '12 digits',
    ],
  ])('%s', (_what, input, found, allowed) => expectOneLine(input, found, allowed));
});
