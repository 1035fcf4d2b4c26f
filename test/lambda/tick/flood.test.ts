import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import type { TickReport } from '../../../lambda/tick/tick.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

describe('a flood', () => {
  const dated = (id: number) =>
    assessment({
      id,
      certified_on: Temporal.PlainDate.from('2020-01-01')
        .add({ days: id % 90 })
        .toString(),
    });

  beforeEach(async () => {
    story.settings = { holdAbove: 50 };
    story.world = Array.from({ length: 100 }, (_, index) => dated(index + 1));
    await story.tick();
    story.notices.length = 0;
  });

  it('is held from its first event on, and operations are told what it is', async () => {
    story.world = [
      ...story.world,
      ...Array.from({ length: 300 }, (_, index) => dated(index + 101)),
    ];
    expect(await story.tick()).toMatchObject({ created: 300, held: 300, delivered: 0 });
    expect(story.heard).toEqual([]);
    expect(story.notices).toHaveLength(1);
    expect(story.notices[0]?.text).toMatch(/created: \d+/);
    expect(story.notices[0]?.text).toMatch(/By organization:\n {4}7: \d+/);
    expect(story.notices[0]?.text).toMatch(/2020: \d+/);
    expect(story.notices[0]?.text).not.toMatch(/Odalys|SEID|@/);
  });

  it('is not committed before operations could be told', async () => {
    story.world = [
      ...story.world,
      ...Array.from({ length: 300 }, (_, index) => dated(index + 101)),
    ];
    story.subscribers.mailing = { accepted: false, code: 'InternalError' };
    const refused = await story.tick();
    expect(refused).toMatchObject({ created: 0, held: 0 });
    expect(refused.failed).toBeGreaterThan(0);
    story.subscribers.mailing = { accepted: true };
    expect(await story.tick()).toMatchObject({ created: 300, held: 300 });
    expect(story.notices).toHaveLength(1);
  });

  it('comes to its end also at a partner where something new comes during every search', async () => {
    story.settings = { holdAbove: 50 };
    const old = (id: number) => assessment({ id, certified_on: '2020-01-01' });
    story.world = Array.from({ length: 120 }, (_, index) => assessment({ id: index + 1 }));
    for (let ticks = 0; ticks < 3; ticks += 1) await story.tick();
    story.world = [...story.world, ...Array.from({ length: 61 }, (_, index) => old(1_000 + index))];
    const count = story.partner.count.bind(story.partner);
    let next = 5_000;
    Object.assign(story.partner, {
      count: async (...asked) => {
        story.world = [...story.world, old(next++)];
        return count(...asked);
      },
    } satisfies Partial<PartnerReader>);
    const ticks: TickReport[] = [];
    for (let minute = 0; minute < 4; minute += 1) {
      ticks.push(await story.tick());
      story.clock.advance({ minutes: 1 });
    }
    expect(ticks[0]?.held).toBeGreaterThan(50);
    expect(ticks.at(-1)).toMatchObject({ held: 0, failed: 0 });
    expect(ticks.at(-1)?.delivered).toBeGreaterThan(0);
  });

  it('that is over does not hold what comes after it', async () => {
    story.world = [
      ...story.world,
      ...Array.from({ length: 300 }, (_, index) => dated(index + 101)),
    ];
    await story.tick();
    story.world = [...story.world, dated(900)];
    expect(await story.tick()).toMatchObject({ created: 1, held: 0, delivered: 1 });
  });
});
