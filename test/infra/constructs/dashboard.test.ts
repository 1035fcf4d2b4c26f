import { describe, expect, it } from 'vitest';
import { maxIntegrations } from '../../../infra/config/limits.ts';
import { times } from '../config/settings.ts';
import { district, listAt, only, synthesized } from '../synthesized.ts';

describe('the dashboard', () => {
  it("stays within CloudWatch's limits with the most integrations of a configuration", () => {
    const one = (index: number) => ({ ...district, name: `district-${index}` });
    const integrations = times(maxIntegrations, one);
    const { resource } = only(synthesized({ integrations }), 'AWS::CloudWatch::Dashboard');
    const text = listAt(resource, 'Properties', 'DashboardBody', 'Fn::Join', '1').map((part) =>
      typeof part === 'string' ? part : 'a reference',
    );
    const widgets = listAt(JSON.parse(text.join('')), 'widgets');
    const counts = widgets.map((widget) => listAt(widget, 'properties', 'metrics').length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(500);
    expect(counts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(2_500);
    const alarms = widgets.map((widget) => listAt(widget, 'properties', 'alarms').length);
    expect(Math.max(...alarms)).toBe(3 * maxIntegrations);
    expect(Math.max(...alarms)).toBeLessThanOrEqual(100);
  });

  it('can be left out', () => {
    const without = synthesized({ integrations: [district], dashboard: false });
    without.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
    expect(Object.keys(without.findOutputs('*'))).not.toContain('Dashboard');
  });
});
