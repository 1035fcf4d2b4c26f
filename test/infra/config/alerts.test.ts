import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../infra/config.ts';
import { district, expectOneLine, type Refusal } from './settings.ts';

describe('alerts', () => {
  it('may collect digests and have quiet hours', () => {
    const alerts = { digestEvery: 30, quietHours: { from: '20:00', to: '06:30' } };
    expect(parseConfig({ integrations: [district], alerts }).alerts).toEqual({
      detail: 'names',
      maxRows: 60,
      ...alerts,
    });
  });
});

describe('a wrong setting of the alerts is named with its place, its value and the allowed values', () => {
  it.each<Refusal>([
    [
      'a digest of no rows',
      { integrations: [district], alerts: { maxRows: 0 } },
      'alerts.maxRows: 0 found',
      'a whole number from 1 to 1000',
    ],
    [
      'a digest of days',
      { integrations: [district], alerts: { digestEvery: 2_880 } },
      'alerts.digestEvery: 2880 found',
      'a whole number from 1 to 1440',
    ],
    [
      'a detail that no digest has',
      { integrations: [district], alerts: { detail: 'all' } },
      'alerts.detail: "all" found',
      "one of 'names', 'counts'",
    ],
    [
      'a time of day without minutes',
      { integrations: [district], alerts: { quietHours: { from: '8pm', to: '06:00' } } },
      'alerts.quietHours.from: "8pm" found',
      'HH:MM',
    ],
    [
      'quiet hours that never begin',
      { integrations: [district], alerts: { quietHours: { from: '06:00', to: '06:00' } } },
      'alerts.quietHours: an object found',
      'two different times',
    ],
  ])('%s', (_what, input, found, allowed) => expectOneLine(input, found, allowed));
});
