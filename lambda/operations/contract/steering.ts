import * as z from 'zod/mini';
import { by, byKind, count, next, operation, paused, reason } from './common.ts';

/** Commands that change how ticks go on. */

const tick = {
  command: z.strictObject({ command: z.literal('tick'), by }),
  result: z.object({
    outcome: z.enum(['completed', 'baseline', 'busy', 'paused', 'backing-off', 'no-credentials']),
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
};

const steered = z.object({
  /** `false`: it was so already, or a baseline is running, and goes on; nothing was changed. */
  changed: z.boolean(),
  paused,
});
const why = { reason: z.optional(reason), by };

const pause = {
  command: z.strictObject({ command: z.literal('pause'), reason, by }),
  result: steered,
};

const resume = {
  command: z.strictObject({ command: z.literal('resume'), ...why }),
  result: steered,
};

const restartBaseline = {
  command: z.strictObject({ command: z.literal('restart-baseline'), ...why }),
  result: steered,
};

/** More is missing than may be withdrawn, and the partner's total is right. */
const acceptTotal = {
  command: z.strictObject({
    command: z.literal('accept-total'),
    /** What was looked at: accepted only if the partner still shows as many, within a tenth. */
    total: count,
    ...why,
  }),
  result: z.object({
    /** `false`: no more is missing than may be withdrawn; there is nothing to accept. */
    changed: z.boolean(),
    /** What the partner shows. */
    total: count,
    /** What was expected. */
    before: count,
    paused,
  }),
};

/** The secret has other credentials now: the partner is not left alone any longer. */
const credentialsStored = {
  command: z.strictObject({
    command: z.literal('credentials-stored'),
    /** `false`: they are about to be. It is noted who stores them, before it is done; `next` says that it was. */
    stored: z._default(z.boolean(), true),
    by,
    operation,
  }),
  /** `changed`: the partner was left alone after refusals, and no longer is. */
  result: z.object({ changed: z.boolean(), next }),
};

export const steering = {
  tick,
  pause,
  resume,
  'restart-baseline': restartBaseline,
  'accept-total': acceptTotal,
  'credentials-stored': credentialsStored,
};
