import { expect, it } from 'vitest';
import type { Announcer } from '../../../lambda/ports/announcer.ts';
import { Integration } from '../../scaffold/integration.ts';
import { SlowTopic } from '../../scaffold/slow-topic.ts';
import { numbers, on } from './scenarios.ts';

const count = (times: Map<string, number>, what: string) =>
  times.set(what, (times.get(what) ?? 0) + 1);

it('SNS that takes 8 s for each answer has 100 events within four ticks, each once or twice, and each mail once', async () => {
  const story = new Integration();
  const topic = new SlowTopic(story.clock, 8_000);
  const sent = new Map<string, number>();
  const mailed = new Map<string, number>();
  const slow: Partial<Announcer> = {
    publish: (...asked) =>
      topic.publish(asked, {
        hear: (batch) =>
          batch.map(({ event }) => {
            count(sent, event.id);
            return undefined;
          }),
        random: () => 0.5,
      }),
    tellPeople: (events) => topic.mail(() => events.forEach(({ id }) => void count(mailed, id))),
    notify: ({ subject }) => topic.mail(() => void count(mailed, subject)),
  };
  Object.assign(story.subscribers, slow);
  story.world = on('2026-11-20', numbers(1, 50));
  await story.baseline();
  story.add(...on('2026-11-21', numbers(101, 200)));
  await story.minutes(4);
  expect(sent.size).toBe(100);
  expect(Math.max(...sent.values())).toBeLessThanOrEqual(2);
  expect(await story.minute()).toMatchObject({ delivered: 0, undelivered: 0 });
  expect([...sent.keys()].filter((id) => !mailed.has(id))).toEqual([]);
  expect(Math.max(...mailed.values())).toBe(1);
});
