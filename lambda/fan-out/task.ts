import * as z from 'zod/mini';
import { errorOf } from '../errors.ts';
import { stretch } from '../ports/stretch.ts';
import { complete } from './complete.ts';
import type { FanOutParts, TaskRun } from './parts.ts';
import { plan } from './plan.ts';
import { readStretch } from './read-stretch.ts';

/** What the state machine sends; days as `YYYY-MM-DD`. */
const task = z.discriminatedUnion('task', [
  z.strictObject({ task: z.literal('plan') }),
  z.strictObject({
    task: z.literal('read'),
    atOnce: z.int().check(z.positive()),
    stretch: z.strictObject(stretch.def.innerType.shape),
  }),
  z.strictObject({ task: z.literal('complete') }),
]);

/** The function was sent something that is none of its tasks. */
export class TaskUnknownError extends errorOf('task-unknown', 'ops') {
  readonly whatToDo = 'Start the state machine; do not invoke its function by hand.';

  constructor(problems: readonly string[]) {
    super(`This is no task of the fan-out: ${problems.join('; ')}.`);
  }
}

/**
 * Carries out one task of the state machine.
 * @returns plain JSON, small: Step Functions collects what all tasks return
 * @throws NotifierError
 */
export async function carryOut(parts: FanOutParts, input: unknown, run: TaskRun) {
  const parsed = task.safeParse(input);
  if (!parsed.success)
    throw new TaskUnknownError(
      parsed.error.issues.map(({ path, code }) => `${path.join('.')} (${code})`),
    );
  switch (parsed.data.task) {
    case 'plan':
      return plan(parts, run);
    case 'read':
      return readStretch(parts, parsed.data.stretch, run, parsed.data.atOnce);
    case 'complete':
      return complete(parts, run);
  }
}
