import { expect, it } from 'vitest';
import { dispatch, type Message, TopicPace } from '../../lambda/delivery/dispatch.ts';
import { messageOf } from '../../lambda/events/message.ts';
import type { Announcer } from '../../lambda/ports/announcer.ts';
import { batchResult } from '../scaffold/batch-result.ts';
import { closeSandboxes, integrationAt } from './sandbox-integration.ts';

closeSandboxes();

/** A topic that takes so long for each answer, and has taken what was sent also where nobody waits for its answer. */
async function integrationWithTopic(answerMs: number) {
  const host = await integrationAt({ records: 50 });
  const { story } = host;
  const sent = new Map<string, number>();
  const pace = new TopicPace();
  const publish: Announcer['publish'] = (owed, deadline, onAccepted) => {
    const send = async (batch: readonly Message[], patienceMs: number) => {
      for (const { event } of batch.map((one) => one.owed))
        sent.set(event.id, (sent.get(event.id) ?? 0) + 1);
      await story.clock.sleep(Math.min(answerMs, patienceMs));
      return batchResult(
        patienceMs < answerMs ? { code: 'TimeoutError' } : batch.map(() => undefined),
      );
    };
    const context = { clock: story.clock, random: () => 0.5, pace, deadline, onAccepted };
    const messages = owed.map((one) => ({ owed: one, ...messageOf(one.event) }));
    return dispatch(messages, send, context);
  };
  Object.assign(story.subscribers, { publish });
  return { ...host, sent };
}

it.each([30, 100])(
  'SNS that takes 8 s for each answer has %i events within four ticks, each once or twice',
  async (count) => {
    const { story, world, sent } = await integrationWithTopic(8_000);
    await story.baseline();
    for (let n = 0; n < count; n++) world.add({ certified_on: '2026-11-21' });
    for (let tick = 0; tick < 4; tick++) await story.minute();
    expect(sent.size).toBe(count);
    expect(Math.max(...sent.values())).toBeLessThanOrEqual(2);
    expect(await story.minute()).toMatchObject({ delivered: 0, undelivered: 0 });
  },
);
