import { Temporal } from 'temporal-polyfill';
import { beforeEach, expect, it } from 'vitest';
import { FloodNotToldError } from '../../../lambda/tick/announce.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';
import { numbers } from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

const dayOf = (n: number) => Temporal.PlainDate.from('2025-01-01').add({ days: n }).toString();

it('a flood is held from its first event on once ops are told of it, within the hour', async () => {
  const dated = (id: number) => assessment({ id, certified_on: dayOf(id % 90) });
  story.settings = { holdAbove: 50 };
  story.world = numbers(1, 100).map(dated);
  await story.tick();
  story.notices.length = 0;

  story.add(...numbers(101, 400).map(dated));
  story.subscribers.mailing = { accepted: false, code: 'InternalError' };
  const refused = await story.tick();
  expect(refused).toMatchObject({ created: 0, held: 0 });
  expect(refused.failed).toBeGreaterThan(0);
  expect(refused.failure).toBeInstanceOf(FloodNotToldError);
  story.subscribers.mailing = { accepted: true };
  expect(await story.tick()).toMatchObject({ created: 300, held: 300, delivered: 0 });
  expect(story.notices).toHaveLength(1);
  expect(story.notices[0]?.text).toMatch(/created: \d+.*By organization:\n {4}7: .*2025: \d+/s);
  expect(story.notices[0]?.text).not.toMatch(/Odalys|SEID|@/);

  story.clock.advance({ minutes: 50 });
  story.add(dated(900));
  expect(await story.tick()).toMatchObject({ created: 1, held: 1, delivered: 0 });
});

it('a mass edit that audits find is held except for its beginning, and new ones of its days are not', async () => {
  for (let n = 0; n < 6; n++) story.host.addMany(100 * n + 1, 60, dayOf(n));
  // These fill the newest page, so it shows none of the others.
  story.host.addMany(2_000, 101, '2026-11-01');
  story.settings = { holdAbove: 100 };
  await story.baseline();
  story.clock.advance({ hours: 25 });
  const edit = (day: number) => {
    for (let id = 100 * day + 1; id <= 100 * day + 60; id++) story.host.edit(id);
  };
  for (const day of [1, 2, 3]) edit(day);
  await story.minutesUntil(() => story.heard.length + story.memory.held.length === 180, 20);
  expect(story.heard.length).toBeLessThanOrEqual(100);
  story.heard.length = 0;
  const held = story.memory.held.length;
  edit(0);
  story.host.add(3_000, dayOf(0));
  await story.minute();
  expect(story.ids()).toEqual([`${story.name}/3000/1`]);
  expect(story.memory.held).toHaveLength(held + 60);
});
