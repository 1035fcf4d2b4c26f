import * as z from 'zod';
import type { Rule } from '../support/gate.ts';
import type { Duty } from './duty.ts';

const answerSchema = z.looseObject({ result: z.looseObject({ events: z.int() }) });
const eventSchema = z.object({
  subject: z.string(),
  data: z.object({ assessment: z.object({ certified_on: z.string() }) }),
});

/** The function replays two events, and then its time is over, as after a minute. */
export const twoAtATime =
  (duty: Duty): Rule =>
  async ({ body, forward }) => {
    let after = '';
    duty.stage.sns.once('PublishBatch', async (call) => {
      after = cursorBehind(call.body);
      return call.forward();
    });
    const command = z.record(z.string(), z.json()).parse(JSON.parse(body));
    const reply = await forward(JSON.stringify({ ...command, limit: 2 }));
    const answer = answerSchema.parse(JSON.parse(reply.body));
    const result = { ...answer.result, next: { ...command, after } };
    return { ...reply, body: JSON.stringify({ ...answer, result }) };
  };

/** @param published as SNS is sent it */
function cursorBehind(published: string): string {
  const messages = [...new URLSearchParams(published)].filter(([name]) =>
    name.endsWith('.Message'),
  );
  const { subject, data } = eventSchema.parse(JSON.parse(messages.at(-1)?.[1] ?? ''));
  return `${data.assessment.certified_on}/${subject}`;
}
