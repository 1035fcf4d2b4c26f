import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CertificationEvent } from '../../../lambda/events/event.ts';
import { World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});

const dayOf = (n: number) => Temporal.PlainDate.from('2025-01-01').add({ days: n }).toString();
const nextDay = { hours: 25 };

describe('a mass edit', () => {
  it('that the audits find a day at a time is held all but its beginning', async () => {
    for (let n = 0; n < 6; n++) world.addMany(100 * n + 1, 60, dayOf(n));
    world.addMany(1_000, 101, '2026-11-01');
    world.settings = {
      holdAbove: 100,
      audit: { recentMs: 900_000, historyMs: 86_400_000, requests: 1 },
    };
    await world.baseline();
    world.clock.advance(nextDay);
    for (let n = 0; n < 6; n++)
      for (let id = 100 * n + 1; id <= 100 * n + 60; id++)
        world.edit(id, { organization_name: 'Renamed Valley Schools' });
    await world.ticksUntil(() => world.heard.length + world.ledger.held.length === 360, 20);
    expect(world.heard.length).toBeLessThanOrEqual(100);
  });
});

describe('many removals', () => {
  it('that one tick has no time to find are held to the last', async () => {
    world.addMany(5_000, 101, '2026-11-01');
    for (let n = 0; n < 40; n++) world.addMany(100 * n + 1, 60, dayOf(n));
    await world.baseline();
    for (let n = 0; n < 40; n++) world.remove(100 * n + 1);
    world.answerMs = 700;
    await world.ticksUntil(() => world.heard.length + world.ledger.held.length === 40, 10);
    expect(world.heard).toEqual([]);
    expect(world.ledger.held).toHaveLength(40);
  });
});

describe('a total that has collapsed', () => {
  it('and comes back above half does not withdraw the others unasked, a few at a time', async () => {
    // Twenty days of nine; of each, five go.
    for (let n = 0; n < 20; n++) world.addMany(10 * n + 1, 9, dayOf(n));
    await world.baseline();
    for (let n = 0; n < 20; n++) for (let id = 10 * n + 1; id <= 10 * n + 5; id++) world.remove(id);
    expect(await world.tick()).toMatchObject({ collapsed: true, withdrawn: 0 });
    world.addMany(500, 11, '2026-11-20');
    expect(await world.tick()).toMatchObject({ collapsed: false, withdrawn: 0 });
    // The audits come to every other day now, one a tick.
    const now = world.clock.now().epochMilliseconds;
    for (let n = 0; n < 20; n++) {
      const entry = world.ledger.days.get(dayOf(n));
      const minutes = n % 2 === 0 ? 24 * 60 - n / 2 : 0;
      if (entry) world.ledger.days.set(dayOf(n), { ...entry, readAt: now - minutes * 60_000 });
    }
    world.clock.advance({ minutes: 16 });
    await world.ticks(12);
    const withdrawn = ({ type }: CertificationEvent) => type === 'certification.withdrawn';
    expect(world.heard.filter(withdrawn)).toEqual([]);
    expect(world.ledger.held.filter(({ event }) => withdrawn(event))).toHaveLength(50);
  });
});
