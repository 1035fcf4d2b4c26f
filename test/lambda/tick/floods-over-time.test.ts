import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';

let world: Integration;
beforeEach(() => {
  world = new Integration();
  world.host.answerMs = 100;
});

const dayOf = (n: number) => Temporal.PlainDate.from('2025-01-01').add({ days: n }).toString();
const nextDay = { hours: 25 };

describe('a mass edit', () => {
  it('that audits find a day at a time is held except for its beginning', async () => {
    for (let n = 0; n < 6; n++) world.host.addMany(100 * n + 1, 60, dayOf(n));
    world.host.addMany(1_000, 101, '2026-11-01');
    world.settings = {
      holdAbove: 100,
      audit: { ...tickSettings().audit, requests: 1 },
    };
    await world.baseline();
    world.clock.advance(nextDay);
    for (let n = 0; n < 6; n++)
      for (let id = 100 * n + 1; id <= 100 * n + 60; id++)
        world.host.edit(id, { organization_name: 'Renamed Valley Schools' });
    await world.minutesUntil(() => world.heard.length + world.memory.held.length === 360, 20);
    expect(world.heard.length).toBeLessThanOrEqual(100);
  });
});

describe('amid a mass edit', () => {
  beforeEach(async () => {
    for (let n = 0; n < 6; n++) world.host.addMany(100 * n + 1, 60, dayOf(n));
    world.host.addMany(1_000, 50, '2026-11-20');
    world.host.addMany(2_000, 101, '2026-11-01');
    world.settings = { holdAbove: 100 };
    await world.baseline();
    world.clock.advance(nextDay);
    for (let n = 1; n < 3; n++)
      for (let id = 100 * n + 1; id <= 100 * n + 60; id++) world.host.edit(id);
    await world.minutesUntil(() => world.memory.held.length > 0, 20);
    expect(world.heard.length).toBeLessThanOrEqual(100);
    world.heard.length = 0;
    for (const { outbox } of world.memory.items.values()) outbox.clear();
  });

  it('edits on the newest page are held within the hour, and announced after it', async () => {
    world.host.edit(1_000);
    await world.minute();
    expect(world.memory.held).toHaveLength(1);
    for (const { outbox } of world.memory.items.values()) outbox.clear();
    world.clock.advance({ minutes: 70 });
    for (let id = 1_000; id < 1_050; id++) world.host.edit(id, { email: `${id}@example.org` });
    await world.minute();
    expect(world.heard).toHaveLength(50);
    expect(world.memory.held).toEqual([]);
  });

  it('new certifications are announced, and edits of the same day are held', async () => {
    for (let id = 1; id <= 60; id++) world.host.edit(id);
    world.host.add(3_000, dayOf(0));
    await world.minute();
    expect(world.heard.map(({ id }) => id)).toEqual([`${world.name}/3000/1`]);
    expect(world.memory.held).toHaveLength(60);
  });
});

describe('edits without a mass edit', () => {
  beforeEach(async () => {
    world.host.addMany(1, 10, '2026-11-20');
    world.host.addMany(100, 60, dayOf(0));
    // These fill the newest page, so it shows none of the others.
    world.host.addMany(1_000, 101, '2026-11-01');
    world.settings = { holdAbove: 20 };
    await world.baseline();
  });

  it('are announced day after day, in any total number', async () => {
    for (let n = 0; n < 90; n++) {
      world.host.edit(1 + (n % 10), { email: `nr-${n}@example.org` });
      world.clock.advance({ minutes: 30 });
      await world.minute();
    }
    expect(world.heard).toHaveLength(90);
    expect(world.memory.held).toEqual([]);
  });

  it('are announced once they can be committed, after all earlier attempts', async () => {
    const commit = world.ledger.commit.bind(world.ledger);
    world.ledger.commit = async () => {
      throw new LedgerUnavailableError('UpdateItem', { cause: new Error('throttled') });
    };
    for (let id = 100; id < 115; id++) world.host.edit(id);
    for (let days = 0; days < 2; days++) {
      world.clock.advance(nextDay);
      await world.minutes(5);
    }
    world.ledger.commit = commit;
    world.clock.advance(nextDay);
    await world.minutesUntil(() => world.heard.length + world.memory.held.length === 15, 20);
    expect(world.heard).toHaveLength(15);
  });

  it('are announced beside one that cannot be committed', async () => {
    const commit = world.ledger.commit.bind(world.ledger);
    world.ledger.commit = async (change, ...rest) => {
      if (change.id === 100)
        throw new LedgerUnavailableError('UpdateItem', { cause: new Error('too large') });
      return commit(change, ...rest);
    };
    world.settings = { ...world.settings, holdAbove: 2 };
    world.host.edit(100);
    for (let audits = 0; audits < 3; audits++) {
      world.clock.advance(nextDay);
      await world.minutes(2);
    }
    world.host.edit(101);
    world.clock.advance(nextDay);
    await world.minutes(2);
    expect(world.heard.map(({ id }) => id)).toEqual([`${world.name}/101/2`]);
  });
});

describe('a flood with a change that cannot be committed', () => {
  it('ends: later certifications are announced', async () => {
    for (let n = 0; n < 6; n++) world.host.addMany(100 * n + 1, 60, dayOf(n));
    world.host.addMany(5_000, 101, '2026-11-01');
    world.settings = { holdAbove: 30 };
    await world.baseline();
    const commit = world.ledger.commit.bind(world.ledger);
    world.ledger.commit = async (change, ...rest) => {
      if (change.id === 1_000)
        throw new LedgerUnavailableError('UpdateItem', { cause: new Error('too large') });
      return commit(change, ...rest);
    };
    for (let id = 1_000; id < 1_040; id++) world.host.add(id, dayOf(0));
    await world.minutes(3);
    expect(world.heard).toEqual([]);
    expect(world.memory.held).toHaveLength(39);
    world.clock.advance({ minutes: 70 });
    for (let id = 2_000; id < 2_005; id++) {
      world.host.add(id, '2026-11-20');
      await world.minutes(1);
    }
    expect(world.heard).toHaveLength(5);
  });
});

describe('a slow host', () => {
  it.each([5, 7, 9])(
    'that takes %i s to answer is searched further in each tick',
    async (seconds) => {
      // More than 2^8 days, no two of which fit into a page.
      for (let n = 0; n < 260; n++) world.host.addMany(100 * n + 1, 50, dayOf(n));
      await world.baseline(400);
      world.clock.advance({ minutes: 5 });
      world.host.answerMs = seconds * 1_000;
      world.host.add(200_000, dayOf(3));
      await world.minutesUntil(() => world.heard.length === 1, 5);
    },
  );
});

describe('a baseline that announces', () => {
  it.each([{ announce: 'all' }, { announce: { since: dayOf(0) } }] as const)(
    '$announce is held to its end if it is a flood, over any number of ticks',
    async ({ announce }) => {
      for (let n = 0; n < 12; n++) world.host.addMany(100 * n + 1, 60, dayOf(40 * n));
      world.settings = { holdAbove: 200, announce };
      world.host.answerMs = 8_000;
      const all = () => world.heard.length + world.memory.held.length === 720;
      expect(await world.minutesUntil(all, 40)).toBeGreaterThan(3);
      expect(world.heard).toEqual([]);
    },
  );
});

describe('many removals', () => {
  it('hold nothing back, and are not withdrawn, over any number of ticks that find them', async () => {
    world.settings = { holdAbove: 50 };
    world.host.addMany(5_000, 101, '2026-11-01');
    for (let n = 0; n < 40; n++) world.host.addMany(100 * n + 1, 60, dayOf(n));
    await world.baseline();
    for (let n = 0; n < 40; n++)
      for (let id = 100 * n + 1; id <= 100 * n + 15; id++) world.host.remove(id);
    for (let n = 0; n < 30; n++) {
      world.host.add(9_000 + n, '2026-11-20');
      expect(await world.minute()).toMatchObject({ created: 1, delivered: 1, withdrawn: 0 });
    }
    expect((await world.minute()).missing).toBe(600);
  });

  it('that return hold nothing back', async () => {
    world.settings = { holdAbove: 50 };
    for (let n = 0; n < 40; n++) world.host.addMany(100 * n + 1, 10, dayOf(n));
    await world.baseline();
    const removed = [...world.host.records.values()].slice(0, 200);
    for (const { assessment } of removed) world.host.remove(assessment.id);
    await world.minutes(5);
    for (const record of removed) world.host.put(record);
    world.host.add(9_000, '2026-11-20');
    expect(await world.minute()).toMatchObject({ created: 1, held: 0, delivered: 1 });
    await world.minutes(15);
    expect(world.heard).toHaveLength(1);
  });
});
