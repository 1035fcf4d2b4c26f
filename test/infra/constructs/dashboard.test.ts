import { describe, expect, it } from 'vitest';
import { maxIntegrations } from '../../../infra/config/limits.ts';
import { metrics } from '../../../lambda/names.ts';
import { district, listAt, only, synthesized } from '../synthesized.ts';

const other = { ...district, name: 'district-b' };
const plain = synthesized({ integrations: [district, other] });

/** The text of a dashboard, with resolved references. */
function dashboardOf(template: typeof plain): { text: string; widgets: readonly unknown[] } {
  const { resource } = only(template, 'AWS::CloudWatch::Dashboard');
  const text = listAt(resource, 'Properties', 'DashboardBody', 'Fn::Join', '1')
    .map((part) =>
      typeof part === 'string' ? part : String(Object.values(Object(part)).flat()[0]),
    )
    .join('');
  return { text, widgets: listAt(JSON.parse(text), 'widgets') };
}

describe('the dashboard', () => {
  it('answers four questions, and shows each metric of each integration', () => {
    const { text } = dashboardOf(plain);
    expect(text.match(/## [^\\]+/g)).toEqual([
      '## Are we up to date?',
      '## What has changed?',
      '## Is the partner well?',
      '## What does it cost?',
    ]);
    for (const name of ['district-a', 'district-b'])
      for (const metric of Object.values(metrics))
        expect(text).toContain(`"CertificationNotifier","${metric}","integration","${name}"`);
  });

  it("stays within CloudWatch's limits with the most integrations of a configuration", () => {
    const { widgets } = dashboardOf(
      synthesized({
        integrations: Array.from({ length: maxIntegrations }, (_, index) => ({
          ...district,
          name: `district-${index}`,
        })),
      }),
    );
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
