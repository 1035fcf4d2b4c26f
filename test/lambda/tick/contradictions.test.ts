import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { partnerReader } from '../../../lambda/partner/reader.ts';
import { Integration } from '../../scaffold/integration.ts';
import type { HostAnswer, MemoryPartner } from '../../scaffold/partner.ts';
import { answering, numbers, on, titles } from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

const json = { 'content-type': 'application/json' };
const page = (data: readonly unknown[], count: number, offset = 0): HostAnswer => ({
  status: 200,
  headers: json,
  body: JSON.stringify({ data, meta: { count, offset, page: 100 } }),
});
const status = async () => (await story.ledger.state()).baseline.status;

describe('a baseline at a host whose answers contradict each other', () => {
  it('believes no empty list with a count, and nothing of the truth is news', async () => {
    story.world = [...on('2026-11-21', [1, 2]), ...on('2019-05-06', numbers(3, 400))];
    story.host.onList = ({ offset }) => page([], 400, offset);
    await story.minute();
    expect(titles(story)).toEqual([]);
    story.host.onList = () => undefined;
    await story.minutes(6);
    expect(await status()).toBe('completed');
    expect([story.heard, story.memory.held, story.memory.items.size]).toEqual([[], [], 400]);
    expect(titles(story)).toEqual(['baseline completed']);
    story.add(...on('2026-11-21', [500]));
    await story.minute();
    expect(story.heardOf(500)).toEqual(['created']);
  });

  it.each<[string, ofToday: number, MemoryPartner['rows']]>([
    ['a row', 1, (right) => right.map((row) => right.at(-1) ?? row)],
    [
      'a malformed row',
      5,
      ([first, ...more]) =>
        first ? [first, ...more.map(() => first)].map((row) => ({ ...row, malformed: true })) : [],
    ],
  ])('announces no history that was hidden by copies of %s', async (_, ofToday, copies) => {
    const today = Temporal.PlainDate.from('2026-11-21');
    const days = numbers(0, 149).map((n) => today.subtract({ days: n }).toString());
    story.world = days.flatMap((day, n) => on(day, n === 0 ? numbers(200, 199 + ofToday) : [n]));
    story.host.rows = copies;
    await story.minutes(2);
    story.host.rows = (right) => right;
    await story.minutes(70);
    const all = 149 + ofToday;
    expect([await status(), story.heard, story.memory.items.size]).toEqual(['completed', [], all]);
  });

  it('leaves a day that stays unread, holds new ids there, and removes the mark', async () => {
    story.world = on('2026-11-20', numbers(1, 30)).concat(on('2026-11-12', numbers(31, 60)));
    for (const id of [5, 6]) story.host.hidden.add(id);
    await story.minutes(3);
    expect(await status()).toBe('completed');
    const ofTheDay = story.requests.filter((asked) => asked === 'prove 2026-11-20..2026-11-20');
    expect(ofTheDay.length).toBeGreaterThanOrEqual(3);
    expect(titles(story)).toEqual(['baseline completed', 'the baseline could not read some days']);
    expect(story.notices[0]?.text).toContain('1 of the days');
    expect(story.notices[1]?.text).toContain('2026-11-20: 30 counted, 2 not shown');
    story.add(...on('2026-11-20', [90]), ...on('2026-11-12', [91]));
    await story.minutes(2);
    expect(story.ids()).toEqual([`${story.name}/91/1`]);
    expect(story.memory.held.map(({ certificationId }) => certificationId)).toEqual([90]);
    story.host.hidden.clear();
    await story.minutes(20);
    expect(story.memory.items.size).toBe(62);
    expect(story.memory.held).toHaveLength(1);
    expect(titles(story).at(-1)).toBe('the baseline has read all days');
    expect((await story.ledger.state()).unread).toBeUndefined();
  });
});

it('a row that lists show twice is announced once, and is no malformed record', async () => {
  await story.baseline();
  story.host.twinOf = (record) => record;
  story.add(...on('2026-11-20', [3]));
  await story.minutes(3);
  expect(story.ids()).toEqual([`${story.name}/3/1`]);
  expect(titles(story)).toEqual(['baseline completed']);
});

it.each([
  ['50 rows delays nothing', 50, 70, 6_000, 13],
  ['20 rows gets on at 5 requests a minute, in a new process each time', 20, 30, 5, 60],
])('a host that says 100 rows a page and has %s', async (_, rows, ofDay, perMinute, late) => {
  story = new Integration(undefined, perMinute);
  story.host.pageRows = rows;
  story.host.statedRows = 100;
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute++) {
      const options = { requestsPerMinute: perMinute };
      if (perMinute === 5) answering(story, partnerReader(story.host.client(options)));
      await story.minute();
    }
  };
  const days = numbers(10, 19).map((day) => `2026-11-${day}`);
  story.world = days.flatMap((day, nth) => on(day, numbers(100 * nth + 1, 100 * nth + ofDay)));
  await minutes(30);
  expect([await status(), story.memory.items.size]).toEqual(['completed', 10 * ofDay]);
  story.add(...on('2026-11-12', [5_000]));
  await minutes(late);
  expect(story.ids()).toEqual([`${story.name}/5000/1`]);
  story.host.remove(301);
  await minutes(late);
  expect(story.ids().slice(1)).toEqual([`${story.name}/301/2`]);
});
