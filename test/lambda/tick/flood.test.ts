import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import { FloodNotToldError } from '../../../lambda/tick/announcement.ts';
import type { TickReport } from '../../../lambda/tick/tick.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';
import { foretold, foundAgain, numbers, on, replacedAmidDeaths, takenBack } from './scenarios.ts';

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

  it('is held from its first event on, and the notice describes it', async () => {
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

  it('is not committed before ops are told', async () => {
    story.world = [
      ...story.world,
      ...Array.from({ length: 300 }, (_, index) => dated(index + 101)),
    ];
    story.subscribers.mailing = { accepted: false, code: 'InternalError' };
    const refused = await story.tick();
    expect(refused).toMatchObject({ created: 0, held: 0 });
    expect(refused.failed).toBeGreaterThan(0);
    expect(refused.failure).toBeInstanceOf(FloodNotToldError);
    story.subscribers.mailing = { accepted: true };
    expect(await story.tick()).toMatchObject({ created: 300, held: 300 });
    expect(story.notices).toHaveLength(1);
  });

  it('ends although new certifications appear during each search', async () => {
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
    story.clock.advance({ minutes: 70 });
    const later = await story.tick();
    expect(later).toMatchObject({ held: 0, failed: 0 });
    expect(later.delivered).toBeGreaterThan(0);
  });

  it('holds changes within the hour, and none after it', async () => {
    story.world = [
      ...story.world,
      ...Array.from({ length: 300 }, (_, index) => dated(index + 101)),
    ];
    await story.tick();
    story.clock.advance({ minutes: 50 });
    story.world = [...story.world, dated(900)];
    expect(await story.tick()).toMatchObject({ created: 1, held: 1, delivered: 0 });
    story.clock.advance({ minutes: 70 });
    story.world = [...story.world, dated(901)];
    expect(await story.tick()).toMatchObject({ created: 1, held: 0, delivered: 1 });
  });
});

describe('the gate', () => {
  it('lets no more pass if all ids are replaced and ticks die of it', async () => {
    expect(await replacedAmidDeaths.tell(story)).toEqual(replacedAmidDeaths.seen);
  });

  it('does not count changes twice that ticks find again because they died', async () => {
    expect(await foundAgain.tell(story)).toEqual(foundAgain.seen);
  });

  it('holds from the first event on if the total announces many', async () => {
    expect(await foretold.tell(story)).toEqual(foretold.seen);
  });

  it.each([{ since: '2026-11-01' }, 'none'] as const)(
    'does not expect certifications again that a baseline has just recorded: %o',
    async (announce) => {
      story.settings = { announce };
      const years = numbers(0, 30).flatMap((nth) =>
        on(
          `2024-03-${String((nth % 28) + 1).padStart(2, '0')}`,
          numbers(1_000 + nth * 50, 1_049 + nth * 50),
        ),
      );
      story.world = [...on('2026-11-21', [1, 2]), ...years];
      await story.baseline();
      story.heard.length = 0;
      story.add(...on('2026-11-21', [9_001]));
      expect(await story.minute()).toMatchObject({ created: 1, held: 0 });
      expect(story.heard).toHaveLength(1);
    },
  );

  it('drops held events whose changes are undone, and announces true changes after them', async () => {
    expect(await takenBack.tell(story)).toEqual(takenBack.seen);
  });

  it('lets nobody hear of a held certification that disappears, and creates one that stays', async () => {
    story.settings = { holdAbove: 5 };
    const before = numbers(1, 100).map((id) => assessment({ id, certified_on: '2026-11-20' }));
    story.world = before;
    await story.minutes(3);
    const more = numbers(201, 210).map((id) => assessment({ id, certified_on: '2026-11-20' }));
    story.add(...more);
    await story.minutes(2);
    expect(story.memory.held).toHaveLength(10);
    story.world = before;
    await story.minutes(40);
    expect(story.memory.held).toEqual([]);
    story.clock.advance({ minutes: 75 });
    story.add(...more.slice(0, 2));
    await story.minutes(3);
    expect(story.heard.map(({ type, id }) => [type, id])).toEqual([
      ['certification.created', `${story.name}/201/3`],
      ['certification.created', `${story.name}/202/3`],
    ]);
    const explained = await story.operate({ command: 'explain', id: 203 });
    expect(explained).toMatchObject({ result: { verdict: 'undone' } });
  });

  it('lets nothing pass without the lease, since another tick may have counted', async () => {
    story.world = [assessment({ id: 1 })];
    await story.minutes(2);
    story.add(assessment({ id: 2 }));
    const ledger = story.ledgerWith({
      saveState: async (changes, lease) =>
        (changes.gate === undefined || 'heartbeat' in changes) &&
        story.ledger.saveState(changes, lease),
    });
    expect(await story.tick({ ledger })).toMatchObject({ created: 0, failed: 1 });
    expect(story.warnings).toContain('lease lost');
    expect(await story.tick()).toMatchObject({ created: 1, delivered: 1 });
  });

  it('does not count returned certifications as new, and counts others in their place', async () => {
    story.settings = { holdAbove: 50 };
    const before = numbers(1, 300).map((id) => assessment({ id, certified_on: '2026-11-20' }));
    story.world = before;
    await story.minutes(3);
    story.world = before.slice(120);
    await story.minutes(3);
    expect((await story.tick()).missing).toBe(120);
    story.world = before;
    story.add(assessment({ id: 1_000 }));
    await story.minutes(3);
    expect(story.ids()).toEqual([`${story.name}/1000/1`]);
    story.world = story.world.slice(120);
    await story.minutes(3);
    story.add(...numbers(2_001, 2_100).map((id) => assessment({ id, certified_on: '2026-11-19' })));
    await story.minutes(5);
    expect(story.heard.length).toBeLessThanOrEqual(50);
    expect(story.heard.length + story.memory.held.length).toBe(101);
  });
});
