import * as z from 'zod/mini';
import { plannedRange } from '../ports/planned-range.ts';
import type { TickRun } from '../tick/tick.ts';
import { complete } from './complete.ts';
import { UnknownTaskError } from './errors.ts';
import type { FanOutParts } from './parts.ts';
import { plan } from './plan.ts';
import { readRange } from './read-range.ts';

/** The input from the state machine; days as `YYYY-MM-DD`. */
const task = z.discriminatedUnion('task', [
  z.strictObject({ task: z.literal('plan') }),
  z.strictObject({
    task: z.literal('read'),
    atOnce: z.int().check(z.positive()),
    range: z.strictObject(plannedRange.def.innerType.shape),
  }),
  z.strictObject({ task: z.literal('complete') }),
]);

/**
 * Carries out one task of the state machine.
 *
 * @returns plain JSON, small: Step Functions collects the results of all tasks
 * @throws NotifierError
 */
export async function carryOutTask(parts: FanOutParts, input: unknown, run: TickRun) {
  const { data, error } = task.safeParse(input);
  if (error) throw new UnknownTaskError('The task is not one of the state machine.');
  if (data.task === 'plan') return plan(parts, run);
  if (data.task === 'complete') return complete(parts, run);
  return readRange(parts, data.range, run, data.atOnce);
}
