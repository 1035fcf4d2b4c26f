import { expect, it } from 'vitest';
import { activityChart } from '../../console/charts/activity.ts';
import { heatMap, type MarkedDay, marks } from '../../console/charts/heat-map.ts';

const lines = (svg: unknown) => String(svg).replaceAll(/<(path|text|g|title)\b/g, '\n<$1');
const titled = (id: string) => ({ id, title: 'A <title>', description: 'Each "day"' });
const never = { mark: 'unproven', told: 'unproven: <never> read' } as const;

it('the heat map colours each day once by its mark, and has the reason of each unproven one', async () => {
  const days: readonly MarkedDay[] = [
    // The first row begins within a year, and has no leap day.
    ...['30', '31'].map((day) => ({ day: `2027-12-${day}`, mark: 'proven' as const })),
    ...marks.map((mark, n) => ({ day: `2028-01-0${n + 1}`, mark })),
    { day: '2028-02-27', ...never },
    { day: '2028-02-28', ...never },
    { day: '2028-02-29', mark: 'due', told: 'never read' },
    { day: '2028-03-01', ...never },
    { day: '2028-03-02', mark: 'proven' },
  ];
  const svg = lines(await heatMap(days, titled('map')));
  await expect(svg).toMatchFileSnapshot('approved/heat-map.txt');
});

it('the chart of ticks has a lane for each number, in which small ones are visible, and the gaps', async () => {
  const none = { requests: 0, found: 0, held: 0, failed: 0 };
  const bars = [
    { ...none, at: '2026-11-21T16:01:00Z', told: 'first <tick>', requests: 1 },
    { ...none, at: '2026-11-21T16:02:00Z', told: 'second', requests: 400, found: 3 },
    { ...none, at: '2026-11-21T16:07:00Z', told: 'third', requests: 200, gap: '5 min without' },
  ];
  const svg = lines(await activityChart(bars, titled('ticks')));
  await expect(svg).toMatchFileSnapshot('approved/ticks.txt');
});
