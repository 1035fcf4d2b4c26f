import * as z from 'zod/mini';
import { proofKind } from '../../detection/calendar.ts';
import { faults } from '../../errors.ts';

export const instant = z.iso.datetime();
export const day = z.iso.date();
export const count = z.int().check(z.nonnegative());
export const kind = z.enum(['created', 'updated', 'withdrawn', 'restored']);
export const byKind = z.object({
  created: count,
  updated: count,
  withdrawn: count,
  restored: count,
});

/** What went wrong, as data. */
export const problemSchema = z.object({
  /** Stable, kebab-case. */
  code: z.string(),
  fault: z.enum(faults),
  message: z.string(),
  /** Whether the same command, sent again later, can succeed without anybody doing anything. */
  retryHelps: z.boolean(),
  whatToDo: z.string(),
});

export const proof = z.object({ kind: proofKind, at: instant });

/** Who has paused the integration, since when and why, as far as it was said. */
export const pause = z.object({
  since: z.optional(instant),
  by: z.optional(z.string()),
  reason: z.optional(z.string()),
});

/** The partner's answer to a question on the side: a failure does not fail the command. */
export const partnerTotal = z.union([
  z.object({ count, at: instant }),
  z.object({ problem: problemSchema }),
]);
