import * as z from 'zod';
import { conditionNames } from '../detection/conditions.ts';
import {
  discardCommand,
  holdsCommand,
  proveCommand,
  releaseCommand,
  replayCommand,
} from './command.ts';

/*
 * What each command answers. No personal data anywhere. Instants are RFC 3339 in UTC, days are
 * `YYYY-MM-DD` in the platform's time zone, durations are minutes.
 */

const instant = z.iso.datetime();
const day = z.iso.date();
const count = z.int().nonnegative();
const kind = z.enum(['created', 'updated', 'withdrawn', 'restored']);
const byKind = z.object({ created: count, updated: count, withdrawn: count, restored: count });

/** What went wrong, as data. */
export const problemSchema = z.object({
  /** Stable, kebab-case. */
  code: z.string(),
  message: z.string(),
  /** Whether the same command, sent again later, can succeed without anybody doing anything. */
  retryHelps: z.boolean(),
  whatToDo: z.string(),
});

const proof = z.object({ kind: z.enum(['single-page', 'key-seam', 'split']), at: instant });

/** The partner's answer to a question on the side: a failure does not fail the command. */
const partnerTotal = z.union([
  z.object({ count, at: instant }),
  z.object({ problem: problemSchema }),
]);

const baselineProgress = z.object({
  status: z.enum(['none', 'running', 'completed']),
  startDay: day.optional(),
  /** Days before this one are still to be read. */
  before: day.optional(),
  /** Certifications on the days read so far. */
  counted: count,
  /** What the partner counts in all; absent: not asked, or it did not answer. */
  total: count.optional(),
});

/** A changing command, as it was recorded. */
const recorded = z.object({
  operation: z.string(),
  at: instant,
  /** As the caller says. */
  by: z.string().optional(),
  command: z.string(),
  /** The command's settings. */
  settings: z.record(z.string(), z.json()),
  /** Of the last call, if there were several; absent: it never answered. */
  outcome: z.object({ at: instant, ok: z.boolean(), code: z.string().optional() }).optional(),
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
  paused: z
    .object({ since: instant.optional(), by: z.string().optional(), reason: z.string().optional() })
    .optional(),
  backingOff: z.object({ until: instant, failures: count }).optional(),
  baseline: baselineProgress,
  /** End of the last tick that got there. */
  lastTick: instant.optional(),
  /** When the next one is due, by the last one; absent while paused or before the first. */
  nextTick: instant.optional(),
  certifications: count,
  /** Absent: not asked for. */
  partner: partnerTotal.optional(),
  /** By how much the partner's total differs although no day does. */
  unexplained: z.int(),
  /** What was expected before the partner's total fell by more than half. */
  collapsedFrom: count.optional(),
  /** Announced or held since midnight in the platform's time zone, by the ticks that came to their end. */
  today: byKind.extend({ day }),
  /** Certifications with an event that waits: for the next tick, for a digest, for ops. */
  waiting: z.object({ pending: count, digest: count, held: count, undeliverable: count }),
  /** The proof that is oldest; absent: no day is proven. */
  oldestProof: z.object({
    recent: z.object({ day, at: instant }).optional(),
    history: z.object({ day, at: instant }).optional(),
  }),
  /** Days without a proof; the oldest twenty of them. */
  unproven: z.object({
    days: count,
    first: z.array(z.object({ day, since: instant.optional() })),
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
      toldAt: instant.optional(),
      title: z.string(),
      whatToDo: z.string(),
    }),
  ),
  /** Newest first; absent: not asked for. */
  history: z.array(recorded).optional(),
});

const revisionStory = z.object({
  revision: count,
  kind: z.enum(['baseline', ...kind.options]),
  at: instant,
  /** Names of the fields that differ from the revision before. */
  changed: z.array(z.string()),
  /** Of the event that it has; absent: none was made (baseline). */
  event: z.string().optional(),
  /**
   * `baseline`: recorded, not announced. `delivered`: SNS has accepted it, people are told as well.
   * `digest-owed`: people are still to be told. `digest-only`: released for people, not for machines.
   */
  delivery: z.enum([
    'baseline',
    'delivered',
    'digest-owed',
    'digest-only',
    'pending',
    'held',
    'undeliverable',
    'discarded',
  ]),
  /** With which SNS has refused it for good. */
  code: z.string().optional(),
  /** It waits only because one before it is held. */
  behind: z.boolean().optional(),
  /** What ops have decided about it, oldest first. */
  decisions: z.array(
    z.object({
      decision: z.enum(['released', 'released-to-people', 'retried', 'discarded']),
      at: instant,
    }),
  ),
});

export const explainResult = z.object({
  id: count,
  /**
   * The gist. Known: what became of its last revision. Not known: `quarantined` (the partner's record
   * is malformed), `not-yet-seen` (the partner has it, no tick has found it), `not-at-partner`
   * (404: unknown, out of scope, or the id of a part), `unknown` (and the partner was not to be asked,
   * or did not answer).
   */
  verdict: z.enum([
    'announced',
    'digest-owed',
    'announced-to-people',
    'baseline',
    'pending',
    'held',
    'undeliverable',
    'discarded',
    'quarantined',
    'not-yet-seen',
    'not-at-partner',
    'unknown',
  ]),
  /** Absent: the ledger does not know it. */
  known: z
    .object({
      day,
      presence: z.enum(['present', 'withdrawn']),
      revision: count,
      organization_id: z.int(),
      assessment_name: z.string(),
      /** Absent: recorded before that was kept. */
      firstSeen: z
        .object({
          at: instant,
          /** `baseline`: by the first full read, which announces nothing. */
          by: z.enum(['baseline', 'tick', 'unknown']),
          /** By the day it has now, it was completed before the recent window began. */
          late: z.boolean(),
        })
        .optional(),
      /** The newest fifty at most, oldest first. */
      revisions: z.array(revisionStory),
    })
    .optional(),
  /** Its day in the calendar, by what is known of it or by the partner's record. */
  day: z
    .object({
      day,
      count,
      proof: proof.optional(),
      readAt: instant.optional(),
      unprovenSince: instant.optional(),
    })
    .optional(),
  /** What the partner has under this id now; absent: not asked. */
  partner: z
    .union([
      z.object({
        has: z.literal('record'),
        day,
        organization_id: z.int(),
        /** It is what was recorded last; absent: nothing was. */
        asRecorded: z.boolean().optional(),
      }),
      z.object({ has: z.literal('nothing') }),
      z.object({ has: z.literal('malformed') }),
      z.object({ has: z.literal('no-answer'), problem: problemSchema }),
    ])
    .optional(),
  /** What keeps ticks from finding what they have not found yet. */
  hindrances: z.array(
    z.enum([
      'never-ticked',
      'paused',
      'backing-off',
      'baseline-running',
      'collapsed',
      'day-unproven',
    ]),
  ),
});

export const proveResult = z.object({
  /** In order. A day without an entry was read with the next one that has: `readWith`. */
  days: z.array(
    z.object({
      day,
      count,
      proof: proof.optional(),
      /** Over what the proven read found; keyed, to be compared with itself only. */
      digest: z.string().optional(),
      readAt: instant.optional(),
      unprovenSince: instant.optional(),
      readWith: day.optional(),
    }),
  ),
  proven: count,
  unproven: count,
  certifications: count,
  /** Days that are still to be read again, of those with an entry; 0 unless `now`. */
  toRead: count,
  /** What reading again has found. */
  found: byKind.optional(),
  next: proveCommand.optional(),
});

export const tickResult = z.object({
  outcome: z.enum(['completed', 'baseline', 'busy', 'paused', 'backing-off']),
  ...byKind.shape,
  recorded: count,
  delivered: count,
  undelivered: count,
  undeliverable: count,
  held: count,
  quarantined: count,
  examined: count,
  failed: count,
  collapsed: z.boolean(),
  cutShort: z.boolean(),
  requests: count,
  durationMs: z.number(),
});

export const pauseResult = z.object({
  /** `false`: it was so already; nothing was changed. */
  changed: z.boolean(),
  paused: z.boolean(),
  since: instant.optional(),
  by: z.string().optional(),
  reason: z.string().optional(),
});

const keptTally = z.object({
  events: count,
  certifications: count,
  byType: byKind,
  byOrganization: z.array(z.object({ organization_id: z.int(), events: count })),
  byYear: z.array(z.object({ year: z.int(), events: count })),
  /** When the oldest and the newest of them were committed. */
  oldest: instant.optional(),
  newest: instant.optional(),
});

/** Of one call: the sums over `next` are the caller's. */
export const holdsResult = keptTally.extend({
  /** When this was looked at: as `until`, it keeps a release to what was seen. */
  at: instant,
  /** Outboxes that cannot be read. */
  unreadable: count,
  next: holdsCommand.optional(),
});

export const releaseResult = z.object({
  /** Released; of undeliverable ones, to be tried again. */
  events: count,
  byType: byKind,
  /** Selected, and still held because an earlier event of the same certification is. */
  behind: count,
  unreadable: count,
  next: releaseCommand.optional(),
});

export const discardResult = releaseResult
  .omit({ behind: true })
  .extend({ next: discardCommand.optional() });

export const baselineResult = baselineProgress.extend({
  problem: problemSchema.optional(),
});

export const restartBaselineResult = z.object({
  /** `false`: one is running, and has not come anywhere yet. */
  changed: z.boolean(),
});

export const acceptTotalResult = z.object({
  /** `false`: the partner's total is not below half of what it was; there is nothing to accept. */
  changed: z.boolean(),
  /** What the partner shows. */
  total: count,
  /** What was expected. */
  before: count,
});

export const checkNames = [
  'ledger',
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
      whatToDo: z.string().optional(),
      /** Of a failure: that of the error behind it, if there is one. */
      code: z.string().optional(),
    }),
  ),
  /** By the newest page, at most. */
  scope: z
    .object({
      total: count,
      organizations: z.array(z.object({ organization_id: z.int(), name: z.string() })),
      assessments: z.array(z.string()),
    })
    .optional(),
});

export const credentialsStoredResult = z.object({
  /** `true`: the partner was left alone after refusals, and no longer is. */
  changed: z.boolean(),
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
    neverAnnounced: count,
    unreadable: count,
    withoutHistory: count,
    refused: count,
  }),
  /** The command that goes on where this one stopped; absent when everything was done. */
  next: replayCommand.optional(),
});
