import * as z from 'zod';
import type { Rule } from '../../local/aws/gate.ts';
import type { Duty } from './duty.ts';

const commandSchema = z.looseObject({ command: z.string(), after: z.string().optional() });
const answerSchema = z.looseObject({ result: z.looseObject({ events: z.int() }) });

/** The certifications of the first world, which a baseline has recorded without an announcement. */
const neverAnnounced = 30;

/** The function replays two events, and then its time is over, as after a minute. */
export const twoAtATime =
  (duty: Duty): Rule =>
  async ({ body, forward }) => {
    const command = commandSchema.parse(JSON.parse(body));
    const [lastDay = '', lastId] = command.after?.split('/') ?? [];
    const two = [...duty.stage.sandbox.world.assessments()]
      .sort((a, b) => a.id - b.id)
      .slice(neverAnnounced)
      .sort((a, b) => a.certified_on.localeCompare(b.certified_on) || a.id - b.id)
      .filter(
        ({ certified_on: day, id }) => day > lastDay || (day === lastDay && id > Number(lastId)),
      )
      .slice(0, 2);
    const reply = await forward(JSON.stringify({ ...command, ids: two.map(({ id }) => id) }));
    const answer = answerSchema.parse(JSON.parse(reply.body));
    const after = two.map(({ certified_on, id }) => `${certified_on}/${id}`).at(-1);
    const result = { ...answer.result, next: { ...command, after } };
    return { ...reply, body: JSON.stringify({ ...answer, result }) };
  };
