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
    const wrong = { ...integration, recentDays: 0, colour: 'heliotrope' };
    const parse = () =>
      parseFunctionSettings({
        ...variables,
        TABLE_NAME: undefined,
        INTEGRATION: JSON.stringify(wrong),
      });
    expect(parse).toThrow(SettingsError);
    expect(parse).toThrow(/TABLE_NAME .*INTEGRATION\.recentDays .*INTEGRATION/);
    expect(parse).not.toThrow(/heliotrope/);
  });

  it.each([
    ['an unknown detail', { ...alerts, detail: 'everything' }],
    ['an impossible time', { ...alerts, quietHours: { from: '24:00', to: '06:00' } }],
    ['no rows', { ...alerts, maxRows: 0 }],
  ])('refuse alerts with %s', (_, wrong) => {
    expect(() => parseFunctionSettings({ ...variables, ALERTS: JSON.stringify(wrong) })).toThrow(
      /ALERTS/,
    );
  });

  it('refuse an integration that is not JSON', () => {
    expect(() => parseFunctionSettings({ ...variables, INTEGRATION: '{"name":' })).toThrow(
      /INTEGRATION/,
    );
  });
});
