import { beforeEach, describe, expect, it } from 'vitest';
import { World } from '../../support/world.ts';

const migrated = '2015-01-01';
/** Seventeen pages at three seconds each, more than a tick has time for. */
const size = 1_500;

describe('a day that does not fit into one tick', () => {
  let world: World;
  beforeEach(() => {
    world = new World();
    world.answerMs = 3_000;
    world.addMany(1, size, migrated);
    world.addMany(2_001, 50, '2026-11-19');
  });

  const isBeingRead = async () => (await world.ledger.state()).bookmark !== undefined;

  it('is recorded whole by the baseline, silently, each tick going on where the last one stopped', async () => {
    await world.baseline();
    expect(world.ledger.items.size).toBe(size + 50);
    expect(world.heard).toEqual([]);
    expect((await world.ledger.state()).expected).toBe(size + 50);
  });

  it('tells of what is new at its far end, and of what is new today at once', async () => {
    await world.baseline();
    world.add(99_999, migrated);
    await world.tick();
    world.add(90_000, '2026-11-21');
    await world.tick();
    expect(world.heardOf(90_000)).toEqual(['created']);
    await world.ticksUntil(() => world.heardOf(99_999).length > 0, 5);
    expect(world.heard).toHaveLength(2);
  });

  it('tells of what comes where the reading has been already', async () => {
    await world.baseline();
    world.clock.advance({ hours: 25 });
    await world.ticksUntil(isBeingRead, 5);
    world.add(5_000, migrated, { name: 'Aaron Aardvark' });
    await world.ticksUntil(() => world.heard.length > 0, 12);
    expect(world.heardOf(5_000)).toEqual(['created']);
  });

  it('is called unproven, infers no removal, and leaves the ticks quiet afterwards', async () => {
    await world.baseline();
    expect((await world.ledger.state()).bookmark?.day).toBe(migrated);
    world.remove(17);
    await world.ticksUntil(() => world.ledger.days.get(migrated)?.count === size - 1, 12);
    world.queries.length = 0;
    await world.tick();
    expect(world.queries).toHaveLength(1);
    expect(world.heard).toEqual([]);
    expect(world.ledger.days.get(migrated)).not.toHaveProperty('proof');
  });

  it('does not keep another such day from being read', async () => {
    world.addMany(10_001, size, '2016-01-01');
    await world.baseline(20);
    world.clock.advance({ hours: 25 });
    await world.ticksUntil(isBeingRead, 5);
    const { bookmark } = await world.ledger.state();
    const other = bookmark?.day === migrated ? '2016-01-01' : migrated;
    world.add(50_000, other, { name: 'Zoe Zimmer' });
    await world.ticksUntil(() => world.heard.length > 0, 15);
    expect(world.heardOf(50_000)).toEqual(['created']);
  });

  it('never lets a tick run into its end', async () => {
    await world.baseline();
    world.clock.advance({ hours: 25 });
    await world.ticks(5);
    expect(world.warnings).not.toContain('killed');
  });
});
