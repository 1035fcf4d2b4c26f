import * as z from 'zod/mini';
import { plannedRange } from '../ports/planned-range.ts';
import type { TickRun } from '../tick/tick.ts';
import { complete } from './complete.ts';
import type { FanOutParts } from './parts.ts';
import { plan } from './plan.ts';
import { readRange } from './read-range.ts';

/** What the state machine sends; days as `YYYY-MM-DD`. */
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
 * @returns plain JSON, small: Step Functions collects what all tasks return
 * @throws NotifierError, and ZodError when somebody else invokes the function
 */
export async function carryOut(parts: FanOutParts, input: unknown, run: TickRun) {
  const asked = task.parse(input);
  switch (asked.task) {
    case 'plan':
      return plan(parts, run);
    case 'read':
      return readRange(parts, asked.range, run, asked.atOnce);
    case 'complete':
      return complete(parts, run);
  }
}
