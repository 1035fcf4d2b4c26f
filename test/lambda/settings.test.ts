import { describe, expect, it } from 'vitest';
import { parseFunctionSettings, SettingsError } from '../../lambda/settings.ts';
import { functionEnvironment } from '../scaffold/settings.ts';

const alerts = {
  detail: 'counts',
  maxRows: 10,
  digestEvery: 30,
  quietHours: { from: '20:00', to: '06:30' },
};
const variables = {
  ...functionEnvironment({ timeZone: 'America/Chicago', fields: ['seid', 'results'] }),
  ALERTS: JSON.stringify(alerts),
};
const integration = JSON.parse(variables.INTEGRATION);

describe('the settings', () => {
  it("are parsed from the stack's environment", () => {
    const { INTEGRATION, ALERTS, ...names } = parseFunctionSettings(variables);
    expect({ INTEGRATION, ALERTS }).toEqual({ INTEGRATION: integration, ALERTS: alerts });
    expect(variables).toMatchObject(names);
    expect(Object.keys(names)).toHaveLength(6);
  });

  it('name all missing and wrong ones at once, without a value', () => {
    const INTEGRATION = JSON.stringify({ ...integration, recentDays: 0, colour: 'heliotrope' });
    const parse = () => parseFunctionSettings({ ...variables, TABLE_NAME: undefined, INTEGRATION });
    expect(parse).toThrow(SettingsError);
    expect(parse).toThrow(/TABLE_NAME .*INTEGRATION\.recentDays .*INTEGRATION/);
    expect(parse).not.toThrow(/heliotrope/);
  });

  const withAlerts = (wrong: object) => ({ ALERTS: JSON.stringify({ ...alerts, ...wrong }) });
  it.each([
    ['an unknown detail', withAlerts({ detail: 'everything' }), /ALERTS/],
    ['an impossible time', withAlerts({ quietHours: { from: '24:00', to: '06:00' } }), /ALERTS/],
    ['no rows', withAlerts({ maxRows: 0 }), /ALERTS/],
    ['an integration that is not JSON', { INTEGRATION: '{"name":' }, /INTEGRATION/],
  ])('refuse %s', (_, wrong, expected) => {
    expect(() => parseFunctionSettings({ ...variables, ...wrong })).toThrow(expected);
  });
});
