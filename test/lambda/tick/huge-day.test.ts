import { beforeEach, describe, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { hugeDay } from './scenarios.ts';

const migrated = '2015-01-01';
/** Seventeen pages of three seconds each are more than a tick has time for. */
const size = 1_500;

describe('a day that does not fit into one tick', () => {
  let world: Integration;
  beforeEach(() => {
    world = new Integration();
    world.host.answerMs = 3_000;
    world.host.addMany(1, size, migrated);
    world.host.addMany(2_001, 50, '2026-11-19');
  });

  const isBeingRead = async () => (await world.ledger.state()).cursor !== undefined;

  it('is recorded whole and silently by the baseline, over ticks that resume its read', async () => {
    await world.baseline();
    expect(world.memory.items.size).toBe(size + 50);
    expect(world.heard).toEqual([]);
    expect((await world.ledger.state()).expected).toBe(size + 50);
  });

  it('has a new certification at its far end announced, and those of today at once', async () => {
    await world.baseline();
    world.host.add(99_999, migrated);
    await world.minute();
    world.host.add(90_000, '2026-11-21');
    await world.minute();
    expect(world.heardOf(90_000)).toEqual(['created']);
    await world.minutesUntil(() => world.heardOf(99_999).length > 0, 5);
    expect(world.heard).toHaveLength(2);
  });

  it('has a new certification announced where its read has been already', async () => {
    await world.baseline();
    world.clock.advance({ hours: 25 });
    await world.minutesUntil(isBeingRead, 5);
    world.host.add(5_000, migrated, { name: 'Aaron Aardvark' });
    await world.minutesUntil(() => world.heard.length > 0, 12);
    expect(world.heardOf(5_000)).toEqual(['created']);
  });

  it('is read by ticks that resume where the last one stopped', async () => {
    expect(await hugeDay.tell(new Integration())).toEqual(hugeDay.seen);
  });

  it('is called unproven, infers no removal, and leaves later ticks quiet', async () => {
    await world.baseline();
    expect((await world.ledger.state()).cursor?.day).toBe(migrated);
    world.host.remove(17);
    await world.minutesUntil(() => world.memory.days.get(migrated)?.count === size - 1, 12);
    world.host.requests.length = 0;
    await world.minute();
    expect(world.host.queries).toHaveLength(1);
    expect(world.heard).toEqual([]);
    expect(world.memory.days.get(migrated)).not.toHaveProperty('proof');
  });

  it('does not prevent the read of another such day', async () => {
    world.host.addMany(10_001, size, '2016-01-01');
    await world.baseline(20);
    world.clock.advance({ hours: 25 });
    await world.minutesUntil(isBeingRead, 5);
    const { cursor } = await world.ledger.state();
    const other = cursor?.day === migrated ? '2016-01-01' : migrated;
    world.host.add(50_000, other, { name: 'Zoe Zimmer' });
    await world.minutesUntil(() => world.heard.length > 0, 15);
    expect(world.heardOf(50_000)).toEqual(['created']);
  });

  it('gets no tick killed', async () => {
    await world.baseline();
    world.clock.advance({ hours: 25 });
    await world.minutes(5);
    expect(world.warnings).not.toContain('killed');
  });
});
