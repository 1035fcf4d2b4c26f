import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { Deployment } from '../scaffold/deployment.ts';

/**
 * Digests and notices on the topics for chats, as the real functions send them to the SNS of this
 * machine. Amazon Q, which shows them, exists only at AWS.
 */

const chat = { protocol: 'slack', workspace: 'T0123WXYZ', channel: 'C0123WXYZ' } as const;
const shown = z.looseObject({
  source: z.literal('custom'),
  content: z.looseObject({ title: z.string(), description: z.string() }),
});

const stage = new Deployment();
beforeAll(async () => {
  const subscriptions = (['alerts', 'operations'] as const).map((topic) => ({ topic, ...chat }));
  await stage.build({ subscriptions, integration: { holdAbove: 2 } });
  await stage.raise();
});
afterAll(async () => {
  await stage.strike();
  await stage.dismantle();
});

it('chats get the digests, and the notices with the next step', async () => {
  const sent: (readonly [topic: string | null, text: string])[] = [];
  stage.sns.always(async ({ operation, body, forward }) => {
    const asked = new URLSearchParams(body);
    if (operation === 'Publish') sent.push([asked.get('TopicArn'), asked.get('Message') ?? '']);
    return forward();
  });
  const shownOn = (variable: string) =>
    sent
      .filter(([topic]) => topic === stage.poll.environment[variable])
      .map(([, text]) => shown.parse(JSON.parse(text)).content);
  await stage.completedTick();
  stage.sandbox.world.add();
  await stage.completedTick();
  expect(await stage.mails()).toHaveLength(1);
  expect(shownOn('CHAT_ALERTS_TOPIC_ARN')).toEqual([
    expect.objectContaining({
      title: expect.stringMatching(/: 1 new certification/),
      description: expect.stringMatching(/^\*1 new certification\*\n/),
    }),
  ]);
  for (let n = 0; n < 3; n++) stage.sandbox.world.add();
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
  const mailed = (await stage.notices()).map(({ subject }) => subject);
  const titles = shownOn('CHAT_OPERATIONS_TOPIC_ARN').map(({ title }) => title);
  expect(titles).toEqual(
    mailed.map((subject) =>
      subject.endsWith('completed') ? `ℹ️ ${subject}` : `⚠️ Trouble: ${subject}`,
    ),
  );
  expect(titles).toContain('⚠️ Trouble: district-a: a flood of changes is held');
});
