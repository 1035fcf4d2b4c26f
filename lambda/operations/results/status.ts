import * as z from 'zod/mini';
import { conditionNames } from '../../detection/conditions.ts';
import { commandRecord } from '../../ports/command-record.ts';
import { byKind, count, day, instant, partnerTotal, pause } from './common.ts';

/**
 * Why an integration is not up to date: the gravest first. Beside the conditions that operations are
 * told of: `schedule-removed`, `schedule-disabled`: the function does not know; the command line adds it.
 * `behind`: no tick has completed for three periods, and it is not paused. `partner-silent`: it was asked
 * for its total just now, and gave none. `unfinished`: the last tick that looked has not found everything
 * that the total differs by, or could not commit something. `differs`: no day explains what the total
 * differs by. What has come or gone since that tick is no reason, unless ticks are behind: then
 * `partner.count` is not `certifications`. `owing`: events wait for the next tick.
 */
export const reasons = [
  'never-ticked',
  'schedule-removed',
  'schedule-disabled',
  'paused',
  'backing-off',
  'baseline',
  'behind',
  'partner-silent',
  'unfinished',
  'differs',
  ...conditionNames,
  'owing',
] as const;

export type Reason = (typeof reasons)[number];

export const baselineProgress = z.object({
  status: z.enum(['none', 'running', 'completed']),
  startDay: z.optional(day),
  /** Days before this one are still to be read; absent where a fan-out reads them in any order. */
  before: z.optional(day),
  /** Certifications on the days read so far. */
  counted: count,
  /** What the partner counts in all; absent: not asked, or it did not answer. */
  total: z.optional(count),
});

export const statusResult = z.object({
  at: instant,
  settings: z.object({
    integration: z.string(),
    baseUrl: z.string(),
    tokenRequest: z.enum(['form', 'basic', 'json']),
    timeZone: z.string(),
    recentDays: count,
    /** Minutes between two ticks. */
    every: z.number(),
    holdAbove: count,
    announce: z.string(),
  }),
  /** The first of `reasons`; `up-to-date` only if there is none. */
  standing: z.enum([...reasons, 'up-to-date']),
  /** Everything that keeps it from being up to date. */
  reasons: z.array(z.enum(reasons)),
  /** Somebody works on it at this moment. */
  busy: z.boolean(),
  paused: z.optional(pause),
  backingOff: z.optional(z.object({ until: instant, failures: count })),
  baseline: baselineProgress,
  /** End of the last tick that got there. */
  lastTick: z.optional(instant),
  /** When the next one is due, by the last one; absent while paused or before the first. */
  nextTick: z.optional(instant),
  certifications: count,
  /** Absent: not asked for. */
  partner: z.optional(partnerTotal),
  /** By how much the partner's total differs although no day does. */
  unexplained: z.int(),
  /** Known, not in the partner's list, and not withdrawn; `isTooMany`: nor will they be, before ops accept the total. */
  missing: z.object({ number: count, isTooMany: z.boolean() }),
  /** Announced or held since midnight in the platform's time zone, by the ticks that came to their end. */
  today: z.extend(byKind, { day }),
  /** Certifications with an event that waits: for the next tick, for a digest, for ops. */
  waiting: z.object({ pending: count, digest: count, held: count, undeliverable: count }),
  /** The proof that is oldest; absent: no day is proven. */
  oldestProof: z.object({
    recent: z.optional(z.object({ day, at: instant })),
    history: z.optional(z.object({ day, at: instant })),
  }),
  /** Days without a proof; the oldest twenty of them. */
  unproven: z.object({
    days: count,
    first: z.array(z.object({ day, since: z.optional(instant) })),
  }),
  /**
   * How long it takes at worst until a change is found, by these settings: docs/detection.md.
   * `edited-newest`: on a day that the newest page shows whole.
   */
  detection: z.array(
    z.object({
      change: z.enum([
        'new',
        'withdrawn',
        'restored',
        'edited-newest',
        'edited-recent',
        'edited-history',
        'replaced',
      ]),
      minutes: z.number(),
      by: z.enum(['total', 'page', 'audit']),
    }),
  ),
  /** What lasts of what operations are told of. */
  conditions: z.array(
    z.object({
      name: z.enum(conditionNames),
      since: instant,
      /** Of `held` and `undeliverable`, the certifications that wait now; of the others, by the last tick. */
      number: count,
      /** When operations were told of it last; absent: they are still to be. */
      toldAt: z.optional(instant),
      title: z.string(),
      whatToDo: z.string(),
    }),
  ),
  /** Newest first; absent: not asked for. */
  history: z.optional(z.array(commandRecord)),
});
