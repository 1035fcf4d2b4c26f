import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { activityChart, type Bar } from '../../console/charts/activity.ts';
import { heatMap, type MarkedDay, marks } from '../../console/charts/heat-map.ts';

const titled = { id: 'map', title: 'Proof', description: 'Each day' };
const drawn = async (days: readonly MarkedDay[]) => String(await heatMap(days, titled));

/** The cells that a map colours, read from the rows and columns of its shapes. */
function cellsOf(svg: string): Map<string, string> {
  const years = [...svg.matchAll(/<text x="0" y="\d+">(\d{4})<\/text>/g)].map(([, year]) => year);
  const cells = new Map<string, string>();
  for (const [, mark = '', outline = ''] of svg.matchAll(/<path class="([\w-]+)" d="([^"]+)"/g))
    for (const [, x, y, wide] of outline.matchAll(/M(\d+) (\d+)h(\d+)v11h-\3z/g))
      for (let left = Number(x); left < Number(x) + Number(wide); left += 3) {
        const inLeapYear = new Date(Date.UTC(2000, 0, 1 + (left - 34) / 3));
        const day = `${years[(Number(y) - 16) / 13]}${inLeapYear.toISOString().slice(4, 10)}`;
        expect(cells.has(day)).toBe(false);
        cells.set(day, mark);
      }
  return cells;
}

const daysFrom = fc
  .record({
    first: fc.integer({ min: -20_000, max: 40_000 }),
    runs: fc.array(
      fc.record({
        mark: fc.constantFrom(...marks),
        told: fc.constantFrom(undefined, 'never read', '<b>&"'),
        days: fc.integer({ min: 1, max: 90 }),
      }),
      { minLength: 1, maxLength: 20 },
    ),
  })
  .map(({ first, runs }) => {
    const begin = Temporal.PlainDate.from('1970-01-01').add({ days: first });
    return runs
      .flatMap(({ mark, told, days }) => Array.from({ length: days }, () => ({ mark, told })))
      .map((one, n): MarkedDay => ({ ...one, day: begin.add({ days: n }).toString() }));
  });

describe('the heat map', () => {
  it('colours each day once by its mark, and no other day', async () => {
    await fc.assert(
      fc.asyncProperty(daysFrom, async (days) => {
        const expected = new Map(days.map(({ day, mark }) => [day, mark]));
        expect(cellsOf(await drawn(days))).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it('has the reason for each unproven day, escaped', async () => {
    const svg = await drawn([
      { day: '2026-11-01', mark: 'unproven', told: 'unproven: <never> read' },
      { day: '2026-11-02', mark: 'unproven', told: 'unproven: <never> read' },
      { day: '2026-11-03', mark: 'proven' },
    ]);
    expect(svg).toContain(
      '<title>2026-11-01 to 2026-11-02: unproven: &lt;never&gt; read</title></path>',
    );
    expect(svg.match(/<title>/g)).toHaveLength(1);
  });

  it('is an image with a name and a description, without an element that can have the focus', async () => {
    const svg = await drawn([{ day: '2026-11-01', mark: 'proven' }]);
    expect(svg).toMatch(/^<svg role="img" aria-labelledby="map-title map-description"/);
    expect(svg).toContain('<title id="map-title">Proof</title>');
    expect(svg).not.toMatch(/<a |tabindex|style=/);
  });
});

describe('the chart of ticks', () => {
  const none = { requests: 0, found: 0, held: 0, failed: 0 };
  const bar = (minute: number, more: Partial<Bar>): Bar => ({
    ...none,
    at: `2026-11-21T16:0${minute}:00Z`,
    told: `minute ${minute}`,
    ...more,
  });
  const chartOf = async (bars: readonly Bar[]) =>
    String(await activityChart(bars, { id: 'ticks', title: 'Ticks', description: '3 ticks' }));
  const heights = (svg: string, lane: string) => {
    const [, outline = ''] = new RegExp(`class="${lane}" d="([^"]*)"`).exec(svg) ?? [];
    return [...outline.matchAll(/M\d+ \d+v-(\d+)/g)].map(([, height]) => Number(height));
  };

  it('has a lane for each number, in which the greatest is the highest and small ones are visible', async () => {
    const bars = [bar(1, { requests: 1 }), bar(2, { requests: 400 }), bar(3, { requests: 200 })];
    const svg = await chartOf(bars);
    expect(heights(svg, 'requests')).toEqual([2, 20, 10]);
    expect(heights(svg, 'failed')).toEqual([]);
    expect(svg).toContain('>400</text>');
  });

  it('has the text of each tick, and the gaps between ticks', async () => {
    const svg = await chartOf([
      bar(1, { told: 'first <tick>' }),
      bar(5, { gap: '4 min without a tick' }),
    ]);
    expect(svg).toContain('<title>first &lt;tick&gt;</title>');
    expect(svg).toContain('<title>4 min without a tick</title>');
    expect(svg).toMatch(/role="img" aria-labelledby="ticks-title ticks-description"/);
    expect(svg).not.toMatch(/<a |tabindex|style=/);
  });
});
