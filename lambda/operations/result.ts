import * as z from 'zod/mini';
import { credentialsStoredCommand, proveCommand, replayCommand } from './command.ts';
import { byKind, count, day, instant, pause, problemSchema, proof } from './results/common.ts';
import { baselineProgress } from './results/status.ts';

export * from './results/check.ts';
export { problemSchema } from './results/common.ts';
export * from './results/explain.ts';
export * from './results/kept.ts';
export { type Reason, reasons, statusResult } from './results/status.ts';

/*
 * What each command answers. No personal data anywhere. Instants are RFC 3339 in UTC, days are
 * `YYYY-MM-DD` in the platform's time zone, durations are minutes.
 */

export const proveResult = z.object({
  /** In order. A day without an entry was read with the next one that has: `readWith`. */
  days: z.array(
    z.object({
      day,
      /**
       * `proven`: by a read that began when the day was over. `open`: it is not over; proven is what it
       * had at the time of its proof, if it has one since it began. `unproven`: there is no proof, or none since it was over.
       * `not-yet`: it is still to come.
       */
      standing: z.enum(['proven', 'open', 'unproven', 'not-yet']),
      /** What the proof found; of an unproven day, what the partner is expected to count. */
      count,
      /** How many more are known since the proof, or fewer. Absent: none. */
      since: z.optional(z.int()),
      proof: z.optional(proof),
      /** Over what the proven read found; keyed, to be compared with itself only. */
      digest: z.optional(z.string()),
      readAt: z.optional(instant),
      unprovenSince: z.optional(instant),
      readWith: z.optional(day),
    }),
  ),
  /** How many days are what. */
  proven: count,
  open: count,
  unproven: count,
  notYet: count,
  certifications: count,
  /** Days that are still to be read again, of those with an entry; 0 unless `now`. */
  toRead: count,
  /** What reading again has found. Absent: not this call has read them, but scheduled ticks, if any. */
  found: z.optional(byKind),
  next: z.optional(proveCommand),
});

export const tickResult = z.object({
  outcome: z.enum(['completed', 'baseline', 'busy', 'paused', 'backing-off', 'no-credentials']),
  ...byKind.shape,
  recorded: count,
  delivered: count,
  undelivered: count,
  undeliverable: count,
  held: count,
  quarantined: count,
  examined: count,
  failed: count,
  missing: count,
  cutShort: z.boolean(),
  requests: count,
  durationMs: z.number(),
});

/** The integration is paused: what is asked for happens when it is resumed. */
const paused = z.optional(pause);

export const pauseResult = z.object({
  /** `false`: it was so already; nothing was changed. */
  changed: z.boolean(),
  paused: z.boolean(),
  ...pause.shape,
});

export const baselineResult = z.extend(baselineProgress, {
  problem: z.optional(problemSchema),
  paused,
});

export const restartBaselineResult = z.object({
  /** `false`: one is running already, and goes on. */
  changed: z.boolean(),
  paused,
});

export const acceptTotalResult = z.object({
  /** `false`: no more is missing than may be withdrawn; there is nothing to accept. */
  changed: z.boolean(),
  /** What the partner shows. */
  total: count,
  /** What was expected. */
  before: count,
  paused,
});

export const credentialsStoredResult = z.object({
  /** `true`: the partner was left alone after refusals, and no longer is. */
  changed: z.boolean(),
  /** To be sent once they are stored. */
  next: z.optional(credentialsStoredCommand),
});

export const testEventResult = z.object({
  /** Of the event that SNS has accepted: what subscribers find in its `id`. */
  id: z.string(),
});

export const replayResult = z.object({
  dryRun: z.boolean(),
  /** Events that were sent; in a dry run, that would have been. */
  events: count,
  byType: byKind,
  /** Selected certifications of which nothing was sent, by the reason; `refused`: invalid to the target. */
  skipped: z.object({
    changed: count,
    pending: count,
    held: count,
    undeliverable: count,
    discarded: count,
    neverAnnounced: count,
    unreadable: count,
    withoutHistory: count,
    refused: count,
    /** Of `ids`: not known to the ledger, or not readable in it. Told by the last call. */
    unknown: count,
  }),
  /** The command that goes on where this one stopped; absent when everything was done. */
  next: z.optional(replayCommand),
});
