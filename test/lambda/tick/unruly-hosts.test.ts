import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { Integration } from '../../scaffold/integration.ts';
import { isOfDays, serverError } from '../../scaffold/partner.ts';
import { titles } from './scenarios.ts';

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

it('a day that the host cannot serve stops neither the baseline nor the audits of others', async () => {
  const poisoned = dayOf(3);
  world.host.onList = ({ first: from = '', last: to = '~', page }) => {
    const isRead = page > 1 && (from !== '' || to !== '~');
    return isRead && from <= poisoned && to >= poisoned ? serverError : undefined;
  };
  await known(6);
  expect(world.memory.items.size).toBe(151);
  world.clock.advance(nextDay);
  for (const id of [10, 60]) world.host.edit(id);
  await world.minutes(4);
  expect([10, 60].map((id) => world.heardOf(id))).toEqual([['updated'], ['updated']]);
  expect(world.memory.days.get(poisoned)).toMatchObject({ count: 0 });
  expect(world.memory.days.get(poisoned)?.proof).toBeUndefined();
});

describe('a total that is not the sum of its days', () => {
  const lie = (surplus: number) => {
    world.host.count = (right, query) => (isOfDays(query) ? right : right + surplus);
  };
  beforeEach(async () => {
    await known(6);
    world.notices.length = 0;
  });

  it.each([40, -3])('is told once, and once at its end: %i', async (surplus) => {
    lie(surplus);
    await world.minutes(9);
    expect(titles(world)).toEqual([]);
    await world.minutes(30);
    expect(titles(world)).toEqual(['the total is not the sum of its days']);
    expect(await world.tick()).toMatchObject({ unexplained: surplus });
    world.host.add(5_000, '2026-11-21');
    await world.minutes(2);
    expect(world.heardOf(5_000)).toEqual(['created']);
    lie(0);
    await world.minutes(13);
    expect(titles(world).slice(1)).toEqual(['the total is the sum of its days again']);
    expect(world.heard).toHaveLength(1);
  });

  it('holds a new certification back only until it has agreed for ten minutes', async () => {
    lie(700);
    world.host.add(777, '2026-11-20');
    expect(await world.minute()).toMatchObject({ created: 1, held: 1 });
    await world.minutes(3);
    lie(0);
    await world.minutes(5);
    // Each pulse has to agree.
    lie(700);
    await world.minute();
    lie(0);
    const minutes = await world.minutesUntil(() => world.heardOf(777).length > 0, 30);
    expect(minutes).toBe(13);
    await world.minutes(20);
    expect(titles(world)).toEqual(['a flood of changes is held', 'nothing is held any more']);
    expect(await world.minute()).toMatchObject({ requests: 1 });
  });

  it('and jumps for a moment holds no new certification back', async () => {
    lie(1);
    await world.minutes(75);
    lie(-600);
    await world.minutes(1);
    lie(1);
    world.host.add(777, '2026-11-20');
    expect(await world.minute()).toMatchObject({ created: 1, held: 0, delivered: 1 });
  });
});

it('an id that is there twice, in changing order, is announced once and told once', async () => {
  const twins = new Set([11, 25, 777]);
  world.host.twinOf = ({ assessment, ...record }) =>
    twins.has(assessment.id)
      ? { ...record, assessment: { ...assessment, email: 'a@example.org', name: 'A Twin' } }
      : undefined;
  await known(3);
  await world.passSelfChecks();
  world.host.add(777, dayOf(2));
  for (let hours = 0; hours < 3; hours++) {
    world.clock.advance(nextDay);
    await world.minutes(4);
  }
  expect(world.heard.map(({ id }) => id)).toEqual([`${world.name}/777/1`]);
  const { email } = world.world.find(({ id }) => id === 777) ?? {};
  expect(world.heard[0]?.data.assessment).toMatchObject({ email });
  expect(world.memory.days.get(dayOf(2))).toMatchObject({ count: 13, proof: { count: 13 } });
  expect(titles(world).slice(1)).toEqual([
    'the partner shows one id twice',
    'the partner shows more ids twice',
  ]);
  expect(await world.minute()).toMatchObject({ requests: 1, unexplained: 0 });
  world.host.twinOf = undefined;
  world.host.edit(25);
  world.clock.advance(nextDay);
  await world.minutes(4);
  expect(world.heardOf(25)).toEqual(['updated']);
  expect(titles(world).slice(3)).toEqual(['the partner shows each id once again']);
});

it('a new id that is there twice, and cannot be asked for, is announced with one of its rows', async () => {
  world.host.twinOf = ({ assessment, ...record }) =>
    assessment.id === 777
      ? { ...record, assessment: { ...assessment, name: 'A Twin' } }
      : undefined;
  world.host.onGet = () => ({ status: 410 });
  await known(3);
  world.host.add(777, dayOf(2));
  await world.minutes(3);
  expect(world.heardOf(777)).toEqual(['created']);
  expect(world.warnings).toContain('record not readable by its id');
});

it.each([
  ['on two days far apart', 20, 120, 6_000, '2009-09-01'],
  ['on a day that is read in parts', 1, 700, 6, '2025-09-01'],
])(
  'an id that is there twice %s is told, and has no update',
  async (_, days, rows, pace, certified_on) => {
    world = new Integration(undefined, pace);
    for (let n = 0; n < days; n++) world.host.addMany(1_000 + rows * n, rows, dayOf(n + 1));
    world.host.twinOf = ({ assessment, ...record }) =>
      assessment.id === 1_350
        ? { ...record, assessment: { ...assessment, name: 'Zoe Twin', certified_on } }
        : undefined;
    await world.baseline(400);
    for (let hours = 0; hours < 3; hours++) {
      world.clock.advance(nextDay);
      await world.minutes(25);
    }
    expect(world.heardOf(1_350)).toEqual([]);
    expect(titles(world)).toContain('the partner shows one id twice');
  },
);

it('an id with another content in each range of a baseline is no news, then and later', async () => {
  world = new Integration();
  const days = ['2026-11-18', '2026-11-10', '2026-10-01'];
  world.host.add(1, '2026-11-20');
  world.host.twinOf = ({ assessment, ...record }) =>
    days.map((certified_on) => {
      const email = `${certified_on}@example.org`;
      return { ...record, assessment: { ...assessment, email, certified_on } };
    });
  await world.baseline();
  for (let audits = 0; audits < 3; audits++) {
    world.clock.advance(nextDay);
    await world.minutes(4);
  }
  expect(world.heard).toEqual([]);
  expect(titles(world)).toContain('the partner shows one id twice');
});

it('an edit and a move that are undone are announced, and no id is there twice', async () => {
  await known(6);
  for (const day of [5, 1, 5, 1, 1, 1]) {
    world.clock.advance(nextDay);
    world.host.edit(10, { certified_on: dayOf(day) });
    // The last one is of the oldest day of the newest page.
    for (const id of [60, 1_050]) world.host.edit(id, { email: `${day}@example.org` });
    await world.minutes(4);
  }
  expect([10, 60, 1_050].map((id) => world.heardOf(id).length)).toEqual([4, 4, 4]);
  world.host.edit(1_050, { email: '5@example.org' });
  world.host.add(9_000, '2026-11-02');
  await world.minutes(1);
  expect(titles(world)).not.toContain('the partner shows one id twice');
});

it('audits go on beside records that cannot be committed, or are gone with another status', async () => {
  // Nine days fit into a page. The changes that cannot be committed are among the first and among
  // the last.
  await known(24);
  const commit = world.ledger.commit.bind(world.ledger);
  world.ledger.commit = async (change, event, ...rest) => {
    if (['10', '240'].includes(event.subject)) throw new LedgerUnavailableError('UpdateItem', {});
    return commit(change, event, ...rest);
  };
  world.host.onGet = (id) => (world.host.has(id) ? undefined : { status: 410 });
  world.clock.advance(nextDay);
  world.host.remove(12);
  for (const id of [10, 120, 240]) world.host.edit(id);
  await world.minutes(14);
  expect(world.heard.map(({ subject }) => subject)).toEqual(['120']);
  // Nor is a host that fails amid a tick taken for one that cannot serve a day.
  world.clock.advance(nextDay);
  let lists = 0;
  world.host.onList = () => (++lists > 1 ? serverError : undefined);
  world.requests.length = 0;
  expect(await world.tick()).toMatchObject({ outcome: 'disturbed' });
  expect(world.requests.filter((one) => one.startsWith('prove'))).toHaveLength(1);
});

it('an audit of many requests is made up for also if a search runs meanwhile', async () => {
  for (let id = 1; id <= 390; id++) world.host.add(id, dayOf(26 + (id % 3)));
  await world.minutes(3);
  world.clock.advance(nextDay);
  world.host.pageRows = 5;
  world.requests.length = 0;
  await world.tick();
  world.host.pageRows = 100;
  world.host.add(900, '2011-11-11');
  await world.minutes(22);
  expect(world.heardOf(900)).toEqual(['created']);
  // The search read the neighbouring day, too.
  expect(world.requests.filter((request) => /^prove .*-09-2\d$/.test(request))).toHaveLength(2);
});
