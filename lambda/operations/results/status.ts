import * as z from 'zod/mini';
import { conditionNames } from '../../detection/conditions.ts';
import { byKind, count, day, instant, partnerTotal } from './common.ts';

export const baselineProgress = z.object({
  status: z.enum(['none', 'running', 'completed']),
  startDay: z.optional(day),
  /** Days before this one are still to be read. */
  before: z.optional(day),
  /** Certifications on the days read so far. */
  counted: count,
  /** What the partner counts in all; absent: not asked, or it did not answer. */
  total: z.optional(count),
});

/** A changing command, as it was recorded. */
const recorded = z.object({
  operation: z.string(),
  at: instant,
  /** As the caller says. */
  by: z.optional(z.string()),
  command: z.string(),
  /** The command's settings. */
  settings: z.record(z.string(), z.json()),
  /** Of the last call, if there were several; absent: it never answered. */
  outcome: z.optional(z.object({ at: instant, ok: z.boolean(), code: z.optional(z.string()) })),
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
  /** The first that applies, in this order. */
  standing: z.enum([
    'never-ticked',
    'paused',
    'backing-off',
    'baseline',
    'behind',
    'owing',
    'up-to-date',
  ]),
  /** Somebody works on it at this moment. */
  busy: z.boolean(),
  paused: z.optional(
    z.object({
      since: z.optional(instant),
      by: z.optional(z.string()),
      reason: z.optional(z.string()),
    }),
  ),
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
  /** What was expected before the partner's total fell by more than half. */
  collapsedFrom: z.optional(count),
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
  /** How long it takes at worst until a change is found, by these settings: docs/detection.md. */
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
  conditions: z.array(
    z.object({
      name: z.enum(conditionNames),
      since: instant,
      number: count,
      /** When operations were told of it last; absent: they are still to be. */
      toldAt: z.optional(instant),
      title: z.string(),
      whatToDo: z.string(),
    }),
  ),
  /** Newest first; absent: not asked for. */
  history: z.optional(z.array(recorded)),
});
