import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../infra/config.ts';
import { ConfigError } from '../../infra/config-error.ts';
import { district, problemsOf, queue } from './config/settings.ts';

describe('a configuration', () => {
  it('needs one integration with a name, a host and a time zone, and has defaults for all other settings', () => {
    expect(parseConfig({ integrations: [district] })).toEqual({
      stackName: 'certification-notifier',
      integrations: [
        {
          ...district,
          every: 1,
          recentDays: 3,
          tokenRequest: 'form',
          audit: { recentMinutes: 15, historyHours: 24, requestsPerTick: 20 },
          holdAbove: 500,
          requestsPerMinute: 6_000,
          withdrawAfter: 10,
          announce: 'none',
          baseline: 'tick',
          fields: 'all',
        },
      ],
      subscriptions: [],
      topic: 'standard',
      alerts: { detail: 'names', maxRows: 60 },
      subscriberAccounts: [],
      logRetentionDays: 30,
      reserveConcurrency: true,
      dashboard: true,
      terminationProtection: true,
      tags: {},
    });
  });
});

describe('a configuration with several problems', () => {
  it('lists them all at once, including those between settings', () => {
    const error = new ConfigError(
      problemsOf({
        integrations: [
          { ...district, every: 'often', colour: 'red' },
          { ...district, timeZone: 'Nowhere', recentDays: 0.5 },
        ],
        subscriptions: [{ ...queue, topic: 'news', filter: { integrations: ['district-z'] } }],
        logRetentionDays: 2,
      }),
    );
    expect(error.problems.map((problem) => problem.split(': ')[0])).toEqual(
      expect.arrayContaining([
        'integrations[0].every',
        'integrations[0].colour',
        'integrations[1].timeZone',
        'integrations[1].recentDays',
        'integrations[1].name',
        'subscriptions[0].topic',
        'subscriptions[0].filter.integrations[0]',
        'logRetentionDays',
      ]),
    );
    expect(error.message.split('\n')).toHaveLength(error.problems.length + 1);
  });
});
