import { beforeEach, describe, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';
import { back, canary } from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

describe('what has disappeared', () => {
  const old = (id: number) => assessment({ id, certified_on: '2024-02-29' });

  beforeEach(async () => {
    story.world = Array.from({ length: 40 }, (_, index) => old(index + 1));
    await story.tick();
    story.notices.length = 0;
  });

  it('is withdrawn in the same tick, after it was asked for by its id, and can be restored', async () => {
    const [gone, ...rest] = story.world;
    story.world = rest;
    expect(await story.tick()).toMatchObject({ withdrawn: 1, delivered: 1 });
    expect(story.heard.at(-1)).toMatchObject({
      id: `${story.name}/1/2`,
      type: 'certification.withdrawn',
      data: { assessment: { id: 1, organization_id: 7, certified_on: '2024-02-29' }, late: true },
    });
    expect(JSON.stringify(story.heard.at(-1))).not.toMatch(/Odalys|SEID|@/);
    story.world = gone ? [gone, ...rest] : rest;
    expect(await story.tick()).toMatchObject({ restored: 1 });
    expect(story.heard.at(-1)).toMatchObject({ type: 'certification.restored', sequence: '3' });
  });

  it('is asked for by its id although the reading of its day takes all requests of a tick', async () => {
    story.add(...Array.from({ length: 90 }, (_, index) => old(index + 41)));
    await story.tick();
    story.host.pageRows = 4;
    story.heard.length = 0;
    story.world = story.world.slice(1);
    const before = story.host.queries.length;
    expect(await story.tick()).toMatchObject({ withdrawn: 1, delivered: 1 });
    expect(story.host.queries.length - before).toBeGreaterThan(110);
    story.requests.length = 0;
    await story.tick();
    expect(story.requests).toEqual(['pulse']);
  });

  it('is not called gone while no record at all can be fetched by its id', async () => {
    story.world = story.world.slice(1);
    story.host.singleRecordsBroken = true;
    expect(await story.tick()).toMatchObject({ withdrawn: 0 });
    expect(story.warnings).toContain('single-record endpoint broken');
    story.requests.length = 0;
    expect(await story.tick()).toMatchObject({ withdrawn: 0, examined: 0 });
    expect(story.requests).toEqual(['pulse']);
    story.host.singleRecordsBroken = false;
    story.clock.advance({ hours: 25 });
    expect(await story.tick()).toMatchObject({ withdrawn: 1 });
  });

  describe('where nothing that the page shows can be read', () => {
    beforeEach(async () => {
      story = new Integration();
      story.world = [old(1)];
      story.host.add(2, '2026-11-20');
      story.host.spoil(2);
      for (let ticks = 0; ticks < 2; ticks += 1) await story.tick();
      story.host.remove(1);
    });

    it('is withdrawn if what cannot be read can be fetched by its id', async () => {
      expect(await story.tick()).toMatchObject({ collapsed: false, withdrawn: 1 });
    });

    it('stands if that has no id either, and is left to the audits', async () => {
      story.host.spoil(2, { id: null });
      expect(await story.tick()).toMatchObject({ collapsed: false, withdrawn: 0 });
      story.requests.length = 0;
      await story.tick();
      expect(story.requests).toEqual(['pulse']);
      story.host.spoil(2);
      story.clock.advance({ hours: 25 });
      expect(await story.tick()).toMatchObject({ withdrawn: 1 });
    });
  });

  it('is an update of its day when it is only somewhere else', async () => {
    const [moved, ...rest] = story.world;
    if (moved === undefined) throw new Error('the world has forty');
    story.world = [...rest, { ...moved, certified_on: '2011-11-11' }];
    story.clock.advance({ hours: 25 });
    expect(await story.tick()).toMatchObject({ updated: 1, withdrawn: 0, conflicts: 0 });
    expect(story.heard.at(-1)?.data.changed).toEqual(['certified_on']);
  });

  it('is held when it is most of a day', async () => {
    story.world = story.world
      .slice(0, 19)
      .concat(assessment({ id: 90, certified_on: '2011-01-01' }));
    await story.tick();
    story.heard.length = 0;
    story.world = story.world.slice(10);
    const report = await story.tick();
    expect(report).toMatchObject({ withdrawn: 10, held: 10, delivered: 0 });
    // Of both days together: the first was half of its day, too.
    expect(story.notices).toHaveLength(1);
    expect(story.heard).toEqual([]);
  });

  it.each([
    [9, 0],
    [10, 6],
  ])(
    'is held when it is most of a day, but for one of fewer than ten: of %i, %i',
    async (many, held) => {
      const ofDay = Array.from({ length: many }, (_, index) =>
        assessment({ id: 200 + index, certified_on: '2011-01-01' }),
      );
      story.world = [...story.world, ...ofDay];
      await story.tick();
      story.world = story.world.filter(({ id }) => id < 200 || id >= 206);
      expect(await story.tick()).toMatchObject({ withdrawn: 6, held, delivered: 6 - held });
    },
  );

  it('by more than half at once is not believed, and operations hear of it once', async () => {
    story.world = [...story.world.slice(0, 10), assessment({ id: 77, certified_on: '2011-11-11' })];
    expect(await story.tick()).toMatchObject({ collapsed: true, withdrawn: 0, created: 1 });
    story.clock.advance({ hours: 25 });
    expect(await story.tick()).toMatchObject({ collapsed: true, withdrawn: 0 });
    expect(story.notices.map(({ subject }) => subject)).toEqual([
      expect.stringContaining('less than half'),
    ]);
    // What is new is found as ever.
    story.world = [...story.world, assessment({ id: 78, certified_on: '2012-12-12' })];
    expect(await story.tick()).toMatchObject({ created: 1 });
    story.world = [...story.world, ...Array.from({ length: 20 }, (_, index) => old(index + 11))];
    story.clock.advance({ hours: 25 });
    await story.tick();
    expect(await story.tick()).toMatchObject({ collapsed: false });
  });

  it('is measured against what a tick that was killed had committed', async () => {
    const present = [...story.world];
    story.world = [
      ...present,
      ...Array.from({ length: 60 }, (_, index) => assessment({ id: 500 + index })),
    ];
    const died = story.ledgerWith({ complete: () => Promise.reject(new Error('killed')) });
    await expect(story.tick({ ledger: died })).rejects.toThrow('killed');
    // A quarter of the 100 that were committed, and more than half of the 40 that the state knows of.
    story.world = present.slice(0, 24);
    story.clock.advance({ seconds: 70 });
    expect(await story.tick()).toMatchObject({ collapsed: true, withdrawn: 0, held: 0 });
  });

  it('is not withdrawn where it only seems so, as no record can be had by its id', async () => {
    expect(await canary.tell(new Integration())).toEqual(canary.seen);
  });

  it('that was accepted has to be accepted again when all was back and most goes again', async () => {
    expect(await back.tell(new Integration())).toEqual(back.seen);
  });
});
