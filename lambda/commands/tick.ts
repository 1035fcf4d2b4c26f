import * as z from 'zod/mini';
import { define } from './definition.ts';
import { by, byKind, count } from './shapes.ts';

/** Runs one tick now, in this function: the lease keeps it and the scheduled ones apart. */
export const tick = define({
  does: 'Runs a tick now, beside the schedule.',
  command: z.strictObject({ command: z.literal('tick'), by }),
  result: z.object({
    outcome: z.enum([
      'completed',
      'baseline',
      'busy',
      'paused',
      'backing-off',
      'no-credentials',
      'disturbed',
    ]),
    ...byKind.shape,
    recorded: count,
    delivered: count,
    undelivered: count,
    undeliverable: count,
    held: count,
    quarantined: count,
    failed: count,
    missing: count,
    cutShort: z.boolean(),
    requests: count,
    durationMs: z.number(),
  }),
  hasChanged: ({ outcome }) => outcome === 'completed' || outcome === 'baseline',
  async carry(parts, _command, { id, time }) {
    const result = await parts.tick({ id, deadline: time.killedAt });
    return { result, failure: result.outcome === 'disturbed' ? result.failure : undefined };
  },
});
