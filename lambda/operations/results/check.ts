import * as z from 'zod/mini';
import { count } from './common.ts';

export const checkNames = [
  'ledger',
  'pause',
  'topics',
  'secret',
  'token',
  'scope',
  'records',
  'clock',
  'time-zone',
  'day-bounds',
  'single-record',
  'tie-order',
] as const;

export const checkResult = z.object({
  /** In the order in which they were made: what follows a failure may be skipped because of it. */
  checks: z.array(
    z.object({
      name: z.enum(checkNames),
      outcome: z.enum(['ok', 'warning', 'failed', 'skipped']),
      /** What was found, in a sentence. */
      found: z.string(),
      /** Of a warning or a failure. */
      whatToDo: z.optional(z.string()),
      /** Of a failure: that of the error behind it, if there is one. */
      code: z.optional(z.string()),
    }),
  ),
  /** By the newest page, at most. */
  scope: z.optional(
    z.object({
      total: count,
      organizations: z.array(z.object({ organization_id: z.int(), name: z.nullable(z.string()) })),
      assessments: z.array(z.string()),
    }),
  ),
});
