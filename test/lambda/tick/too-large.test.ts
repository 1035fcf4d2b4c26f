import { beforeEach, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { titles } from './scenarios.ts';

const limit = 2 * 1024 * 1024;

let story: Integration;
beforeEach(() => {
  story = new Integration();
  for (let id = 1; id <= 300; id++)
    story.host.add(id, `2026-11-${String(1 + (id % 20)).padStart(2, '0')}`);
});

it('a row that is too large alone leaves only its own day unproven, and is not withdrawn', async () => {
  await story.baseline();
  await story.passSelfChecks();
  story.host.weights.set(7, limit + 1);
  for (const id of [1_000, 1_001]) story.host.add(id, '2026-11-08');
  story.host.weights.set(1_000, limit + 1);
  story.clock.advance({ hours: 24 });
  await story.minutes(40);
  expect(story.ids()).toEqual([`${story.name}/1001/1`]);
  expect((await story.ledger.state()).missing?.total ?? 0).toBe(0);
  const unproven = [...story.memory.days].flatMap(([day, { proof }]) => (proof ? [] : [day]));
  expect(unproven).toEqual(['2026-11-08']);
  expect(titles(story).slice(1)).toEqual(['the partner sends malformed records']);
  expect(story.notices[1]?.text).toContain('a record without an id: too large to be read');
  story.host.weights.clear();
  story.clock.advance({ hours: 24 });
  await story.minutes(10);
  expect(story.ids()).toEqual([`${story.name}/1001/1`, `${story.name}/1000/1`]);
  expect(titles(story).at(-1)).toBe('no record is malformed any more');
});
