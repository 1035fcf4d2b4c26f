import { beforeEach, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';

const migrated = '2015-01-01';
/** Seventeen pages of three seconds each are more than a tick has time for. */
const size = 1_500;

let story: Integration;
beforeEach(async () => {
  story = new Integration();
  story.host.answerMs = 3_000;
  story.host.addMany(1, size, migrated);
  story.host.addMany(2_001, 50, '2026-11-19');
  await story.baseline();
});

it('a huge day is called unproven, infers no removal, and leaves later ticks quiet', async () => {
  story.host.remove(17);
  await story.minutesUntil(() => story.memory.days.get(migrated)?.count === size - 1, 12);
  story.host.requests.length = 0;
  await story.minute();
  expect(story.host.queries).toHaveLength(1);
  expect(story.heard).toEqual([]);
  expect(story.memory.days.get(migrated)).not.toHaveProperty('proof');
});
