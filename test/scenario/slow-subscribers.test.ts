import { expect, it } from 'vitest';
import type { OwedEvent } from '../../lambda/events/owed-event.ts';
import type { Announcer } from '../../lambda/ports/announcer.ts';
import { SlowTopic } from '../scaffold/slow-topic.ts';
import { closeSandboxes, integrationAt } from './sandbox-integration.ts';

closeSandboxes();

/** An integration with SNS that takes this time for each answer. */
async function integrationWithTopic(answerMs: number) {
  const host = await integrationAt({ records: 50 });
  const { story } = host;
  const sent = new Map<string, number>();
  const mailed = new Map<string, number>();
  const count = (times: Map<string, number>, what: string) =>
    times.set(what, (times.get(what) ?? 0) + 1);
  const topic = new SlowTopic(story.clock, answerMs);
  const hear = (batch: readonly OwedEvent[]) =>
    batch.map(({ event }) => {
      count(sent, event.id);
      return undefined;
    });
  const slow: Partial<Announcer> = {
    publish: (...asked) => topic.publish(asked, { hear, random: () => 0.5 }),
    tellPeople: (events) =>
      topic.mail(() => {
        for (const { id } of events) count(mailed, id);
      }),
    notify: ({ subject }) => topic.mail(() => count(mailed, subject)),
  };
  Object.assign(story.subscribers, slow);
  return { ...host, sent, mailed };
}

it.each([30, 100])(
  'SNS that takes 8 s for each answer has %i events within four ticks, each once or twice',
  async (count) => {
    const { story, world, sent, mailed } = await integrationWithTopic(8_000);
    await story.baseline();
    for (let n = 0; n < count; n++) world.add({ certified_on: '2026-11-21' });
    for (let tick = 0; tick < 4; tick++) await story.minute();
    expect(sent.size).toBe(count);
    expect(Math.max(...sent.values())).toBeLessThanOrEqual(2);
    expect(await story.minute()).toMatchObject({ delivered: 0, undelivered: 0 });
    // Each event is in one mail, and each notice comes once.
    expect([...sent.keys()].filter((id) => !mailed.has(id))).toEqual([]);
    expect(Math.max(...mailed.values())).toBe(1);
  },
);

it('accepted withdrawals continue without a pause while late answers of SNS cut ticks short', async () => {
  const { story, world, ids, sent } = await integrationWithTopic(8_000);
  const { id: left } = world.add({ certified_on: '2019-03-04' });
  for (let n = 0; n < 120; n++) world.add({ certified_on: '2019-03-04' });
  await story.baseline();
  await story.minutes(2);
  for (const id of ids()) if (id !== left) world.remove(id);
  await story.minutes(12);
  await story.operate({ command: 'accept-total', total: 1 });
  expect(await story.minutesUntil(() => sent.size === 170, 30)).toBeLessThan(16);
});
