import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { Integration } from '../../scaffold/integration.ts';
import { serverError } from '../../scaffold/partner.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { amidSearch, searchedAgain, takenBackFarBack } from './scenarios.ts';

let world: Integration;
beforeEach(() => {
  world = new Integration();
  world.host.answerMs = 100;
});

const dayOf = (n: number) => `2026-09-${String(n).padStart(2, '0')}`;
/** An hour after the audits of history are due. */
const nextDay = { hours: 25 };

/** Adds so many days of ten records each, and enough newer ones that the newest page shows none of them. */
async function known(days: number): Promise<void> {
  for (let n = 1; n <= days; n++) world.host.addMany(10 * n, 10, dayOf(n));
  world.host.addMany(1_000, 101, '2026-11-01');
  await world.baseline(20);
}

describe('a day that the host cannot serve', () => {
  const poisoned = dayOf(3);
  const poison = () => {
    world.host.onList = ({ filter = {}, page = 0 }) => {
      const from = filter.start_date?.toString() ?? '';
      const to = filter.end_date?.toString() ?? '~';
      const isRead = page > 1 && (from !== '' || to !== '~');
      return isRead && from <= poisoned && to >= poisoned ? serverError : undefined;
    };
  };

  it('does not stop the audits of other days', async () => {
    await known(6);
    poison();
    world.clock.advance(nextDay);
    world.host.edit(10);
    world.host.edit(60);
    await world.minutes(4);
    expect(world.heardOf(10)).toEqual(['updated']);
    expect(world.heardOf(60)).toEqual(['updated']);
    expect(world.memory.days.get(poisoned)?.proof).toBeUndefined();
  });

  it('does not prevent the end of the baseline', async () => {
    poison();
    await known(6);
    expect(world.memory.items.size).toBe(151);
    expect(world.memory.days.get(poisoned)).toMatchObject({ count: 0 });
  });
});

describe('a total that is not the sum of its days', () => {
  const titles = () => world.notices.map(({ subject }) => subject.replace(`${world.name}: `, ''));
  const lie = (surplus: number) => {
    world.host.count = (right, { filter = {} }) =>
      filter.start_date || filter.end_date ? right : right + surplus;
  };

  it.each([40, -3])('is told once, and once at its end: %i', async (surplus) => {
    await known(6);
    world.notices.length = 0;
    lie(surplus);
    await world.minutes(9);
    expect(titles()).toEqual([]);
    await world.minutes(30);
    expect(titles()).toEqual(['the total is not the sum of its days']);
    expect(await world.tick()).toMatchObject({ unexplained: surplus });
    world.host.add(5_000, '2026-11-21');
    await world.minutes(2);
    expect(world.heardOf(5_000)).toEqual(['created']);
    lie(0);
    await world.minutes(13);
    expect(titles().at(-1)).toBe('the total is the sum of its days again');
    expect(titles()).toHaveLength(2);
    expect(world.heard).toHaveLength(1);
  });

  it('is searched for after 1, 2, 4 … 64 minutes, and then every hour', async () => {
    world.host.answerMs = 0;
    world.host.addMany(1, 6, '2026-11-20');
    await world.baseline();
    world.settings = { audit: { ...tickSettings().audit, recentMs: 9e12 } };
    await world.ledger.saveState({ auditsFrom: 9e12 });
    await world.minutes(20);
    lie(40);
    const minutes: number[] = [];
    for (let minute = 0; minute < 190; minute++) {
      world.host.requests.length = 0;
      await world.minute();
      if (world.host.asked.length > 1) minutes.push(minute);
    }
    expect(minutes).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 120, 180]);
  });

  it('is searched for again, and not in each tick', async () => {
    expect(await searchedAgain.tell(new Integration())).toEqual(searchedAgain.seen);
  });

  it('is explained by the next tick if a certification appeared while days were read', async () => {
    expect(await amidSearch.tell(world)).toEqual(amidSearch.seen);
  });

  it('and jumps for a moment holds no new certification back', async () => {
    await known(6);
    lie(1);
    await world.minutes(75);
    lie(-600);
    await world.minutes(1);
    lie(1);
    world.host.add(777, '2026-11-20');
    expect(await world.minute()).toMatchObject({ created: 1, held: 0, delivered: 1 });
  });

  it('for a moment is not told', async () => {
    await known(6);
    world.notices.length = 0;
    lie(40);
    await world.minutes(3);
    lie(0);
    await world.minutes(40);
    expect(titles()).toEqual([]);
  });
});

describe('a record', () => {
  it('that disappears with another status than 404 does not stop the audits', async () => {
    await known(6);
    world.host.onGet = (id) => (world.host.has(id) ? undefined : { status: 410 });
    world.host.remove(12);
    world.clock.advance(nextDay);
    world.host.edit(60);
    await world.minutes(4);
    expect(world.heardOf(60)).toEqual(['updated']);
    expect(world.heardOf(12)).toEqual([]);
  });

  it('that cannot be committed does not stop the audits of other days', async () => {
    // Nine days fit into a page. The changes that cannot be committed are among the first and among
    // the last.
    await known(24);
    const commit = world.ledger.commit.bind(world.ledger);
    world.ledger.commit = async (change, event, ...rest) => {
      if (['10', '240'].includes(event.subject)) throw new LedgerUnavailableError('UpdateItem', {});
      return commit(change, event, ...rest);
    };
    world.clock.advance(nextDay);
    for (const id of [10, 120, 240]) world.host.edit(id);
    await world.minutes(4);
    expect(world.heardOf(120)).toEqual(['updated']);
  });

  it('that disappears after the pulse has shown it is withdrawn as any other', async () => {
    for (let n = 1; n <= 6; n++) world.host.addMany(10 * n, 10, dayOf(n));
    world.host.add(500, dayOf(20));
    await world.baseline();
    world.clock.advance(nextDay);
    world.host.onListed = ({ order }) => {
      if (order === 'DESC' && world.host.has(500)) world.host.remove(500);
    };
    await world.minutes(14);
    expect(world.heardOf(500)).toEqual(['withdrawn']);
  });
});

describe('malformed records', () => {
  it('do not use up the audits before they reach readable records', async () => {
    for (let n = 1; n <= 28; n++) world.host.add(n, dayOf(n));
    world.host.addMany(1_000, 101, '2026-11-01');
    await world.baseline();
    for (const bad of [5, 6, 7, 20, 21, 22]) world.host.spoil(bad);
    world.settings = { audit: { ...tickSettings().audit, requests: 2 } };
    world.clock.advance(nextDay);
    world.host.edit(1);
    world.host.edit(28);
    await world.minutesUntil(() => world.heard.length === 2, 60);
  });

  it('leave a small integration quiet, most of whose days have no record', async () => {
    for (let month = 1; month <= 10; month++)
      for (let day = 1; day <= 28; day++) {
        const of = `2026-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
        world.memory.days.set(of, { count: 0, readAt: 0 });
        if (day === 14) world.host.add(month, of);
      }
    await world.ledger.state();
    await world.ledger.touch(['2026-01-01']);
    await world.baseline();
    await world.minutes(3);
    world.host.spoil(5);
    world.settings = { audit: { ...tickSettings().audit, requests: 5 } };
    world.clock.advance(nextDay);
    world.host.requests.length = 0;
    await world.minutes(60);
    expect(world.host.queries.length / 60).toBeLessThan(3);
  });
});

describe('a day with many records of one name', () => {
  beforeEach(() => {
    world.host.order = 'last-name';
  });

  it('on more than a page is read to its end', async () => {
    for (let id = 1; id <= 300; id++)
      world.host.add(id, '2015-01-01', {
        name: id <= 110 ? `Ada${id} Garcia` : `Ada${id} Number${id}`,
      });
    await world.baseline();
    expect(world.memory.items.size).toBe(300);
    world.host.add(500, '2015-01-01', { name: 'Zoe Zimmer' });
    await world.minute();
    expect(world.heardOf(500)).toEqual(['created']);
  });

  it('is read by the baseline over several ticks, although the key of its read changes', async () => {
    world.host.answerMs = 4_000;
    for (let id = 1; id <= 600; id++)
      world.host.add(id, '2015-01-01', {
        name: id % 5 === 0 ? `P${id} Mendoza` : `Ada N${id * 7}`,
        organization_id: 1 + (id % 40),
      });
    world.host.add(900, '2026-11-19');
    await world.baseline(25);
    expect(world.memory.items.size).toBe(601);
  });
});

describe('a read without an answer in time', () => {
  it('does not make a difference that no day explains', async () => {
    world.host.addMany(1, 150, '2025-01-01');
    for (let n = 1; n <= 20; n++) world.host.addMany(1_000 + 10 * n, 10, dayOf(n));
    await world.baseline();
    world.clock.advance(nextDay);
    world.host.onList = ({ sort }) => {
      world.host.answerMs = sort === 'user_name' ? 40_000 : 100;
    };
    await world.minute();
    expect((await world.ledger.state()).unexplained).toBe(0);
  });
});

describe('a lagging replica', () => {
  const email = (id: number, name: string) => world.host.edit(id, { email: `${name}@example.org` });
  const newest = 6_000;
  beforeEach(() => void world.host.add(newest, '2026-11-21'));

  it('shows a record before its edit, which is not announced', async () => {
    await known(1);
    email(newest, 'before');
    await world.minutes(2);
    email(newest, 'after');
    await world.minutes(2);
    expect(world.heardOf(newest)).toEqual(['updated', 'updated']);
    for (let minute = 0; minute < 4; minute++) {
      email(newest, minute % 2 === 0 ? 'before' : 'after');
      await world.minute();
    }
    expect(world.heardOf(newest)).toEqual(['updated', 'updated']);
  });

  it('is told from an undone edit after the time in which it may lag', async () => {
    await known(1);
    email(newest, 'before');
    await world.minutes(15);
    email(newest, 'after');
    await world.minutes(2);
    email(newest, 'before');
    await world.minutes(8);
    expect(world.heardOf(newest)).toEqual(['updated', 'updated']);
    await world.minutes(5);
    expect(world.heardOf(newest)).toEqual(['updated', 'updated', 'updated']);
  });

  it('has a day far back read again after that time', async () => {
    expect(await takenBackFarBack.tell(world)).toEqual(takenBackFarBack.seen);
  });
});
