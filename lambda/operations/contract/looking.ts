import * as z from 'zod/mini';
import { dayTally, presence } from '../../detection/compare.ts';
import { conditionNames } from '../../detection/conditions.ts';
import { commandRecord } from '../../ports/command-record.ts';
import { revisionNoted } from '../../ports/ledger.ts';
import {
  by,
  byKind,
  count,
  day,
  id,
  inOrder,
  instant,
  next,
  operation,
  paused,
  problemSchema,
  proof,
} from './common.ts';

/** Commands that tell of an integration, of one assessment, of days, and of the deployment. */

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

const status = {
  command: z.strictObject({
    command: z.literal('status'),
    /** `false`: the partner's total is not asked for. */
    partner: z._default(z.boolean(), true),
    /** Also the commands that changed something, newest first. */
    history: z._default(z.boolean(), false),
  }),
  result: z.object({
    at: instant,
    settings: z.object({
      integration: z.string(),
      baseUrl: z.string(),
      tokenRequest: z.enum(['form', 'basic', 'json']),
      timeZone: z.string(),
    }),
    /** The first of `reasons`; `up-to-date` only if there is none. */
    standing: z.enum([...reasons, 'up-to-date']),
    /** Everything that keeps it from being up to date. */
    reasons: z.array(z.enum(reasons)),
    /** Somebody works on it at this moment. */
    busy: z.boolean(),
    paused,
    backingOff: z.optional(z.object({ until: instant, failures: count })),
    /** How far the first full read is. */
    baseline: z.object({
      status: z.enum(['none', 'running', 'completed']),
      /** Days before this one are still to be read; absent where a fan-out reads them in any order. */
      before: z.optional(day),
      /** Certifications on the days read so far. */
      counted: count,
    }),
    /** End of the last tick that got there. */
    lastTick: z.optional(instant),
    certifications: count,
    /** Its total, or why it has not told it: a failure does not fail the command. Absent: not asked. */
    partner: z.optional(z.union([z.object({ count }), z.object({ problem: problemSchema })])),
    /** By how much the partner's total differs although no day does. */
    unexplained: z.int(),
    /** Known, not in the partner's list, and not withdrawn; `isTooMany`: nor will they be, before ops accept the total. */
    missing: z.object({ number: count, isTooMany: z.boolean() }),
    /** Announced or held since midnight in the partner's time zone, by the ticks that came to their end. */
    today: dayTally,
    /** Certifications with an event that waits: for the next tick, for a digest, for ops. */
    waiting: z.object({ pending: count, digest: count, held: count, undeliverable: count }),
    /** The proof that is oldest, and its day; absent: no day is proven. */
    oldestProof: z.optional(z.object({ day, at: instant })),
    /** Days without a proof; the oldest twenty of them. */
    unproven: z.object({ days: count, first: z.array(day) }),
    /** Minutes until a change is found at worst, by these settings: docs/detection.md. */
    detection: z.object({
      /** New, restored, or edited on a day that the newest page shows whole. */
      news: z.number(),
      withdrawn: z.number(),
      /** On the other days of the recent window. */
      editedRecent: z.number(),
      /** Before that; or one gone and one new on a day there. */
      editedHistory: z.number(),
    }),
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
    history: z.optional(z.readonly(z.array(commandRecord))),
  }),
};

const dayProof = z.object({
  day,
  /** What the proof found; of an unproven day, what the partner is expected to count. */
  count,
  /** How many more are known since the proof, or fewer. Absent: none. */
  since: z.optional(z.int()),
  proof: z.optional(proof),
  /** Over what the proven read found; keyed, to be compared with itself only. */
  digest: z.optional(z.string()),
  unprovenSince: z.optional(instant),
});

/**
 * What has become of a revision. `baseline`: recorded, not announced. `announced`: SNS has accepted it, people are
 * told as well. `digest-owed`: people are still to be told. `announced-to-people`: released for people, not for
 * machines; `digest-only-owed`: and they are still to be told. `undone`: it was held, or undid what was, and left
 * the outbox by itself.
 */
const outcome = z.enum([
  'baseline',
  'announced',
  'announced-to-people',
  'digest-owed',
  'digest-only-owed',
  'pending',
  'held',
  'undeliverable',
  'discarded',
  'undone',
]);

const revisionStory = z.extend(z.omit(revisionNoted, { undone: true }), {
  revision: count,
  /** Of the event that it has; absent: none was made (baseline). */
  event: z.optional(z.string()),
  delivery: outcome,
  /** With which SNS has refused it for good. */
  code: z.optional(z.string()),
  /** It waits only because one before it is held. */
  behind: z.optional(z.boolean()),
});

const explain = {
  command: z.strictObject({
    command: z.literal('explain'),
    id,
  }),
  result: z.object({
    id: count,
    /**
     * The gist. Known: what became of its last revision. Not known: `quarantined` (the partner's record
     * has no usable id or day), `not-yet-seen` (the partner has it, no tick has found it), `not-at-partner`
     * (404: unknown, out of scope, or the id of a part), `partner-silent` (it could not be asked).
     * `unknown`: its last revision was recorded before there was a history.
     */
    verdict: z.enum([
      ...outcome.options,
      'quarantined',
      'not-yet-seen',
      'not-at-partner',
      'partner-silent',
      'unknown',
    ]),
    /** Absent: the ledger does not know it. */
    known: z.optional(
      z.object({
        day,
        presence,
        revision: count,
        organization_id: z.nullable(z.int()),
        assessment_name: z.nullable(z.string()),
        /** Absent: recorded before that was kept. */
        firstSeen: z.optional(instant),
        /** The newest fifty at most, oldest first. */
        revisions: z.array(revisionStory),
      }),
    ),
    /** Its day in the calendar, by what is known of it or by the partner's record. */
    day: z.optional(dayProof),
    /** What the partner has under this id now. */
    partner: z.union([
      z.object({
        has: z.literal('record'),
        day,
        organization_id: z.nullable(z.int()),
        /** It is what was recorded last; absent: nothing was. */
        asRecorded: z.optional(z.boolean()),
      }),
      z.object({ has: z.enum(['nothing', 'malformed']) }),
      z.object({ has: z.literal('no-answer'), problem: problemSchema }),
    ]),
  }),
};

/**
 * Calendar years that one certificate may tell of. It is one answer, which has 6 MB at most, and some 200 bytes
 * a day.
 */
export const certificateYears = 30;

/** Invalid dates are reported separately. */
export function fitsOneCertificate({ from, to }: { readonly from: string; readonly to: string }) {
  const isTooLong = Number(to.slice(0, 4)) - Number(from.slice(0, 4)) >= certificateYears;
  return !isTooLong;
}

const prove = {
  command: z
    .strictObject({
      command: z.literal('prove'),
      /** Both included. */
      from: day,
      to: day,
      /** Reads all of them again first, and announces what differs. */
      now: z._default(z.boolean(), false),
      by,
      /** When the first of several calls began: what was read since is done; part of `next`. */
      since: z.optional(instant),
      operation,
    })
    .check(
      z.refine(({ from, to }) => from <= to, inOrder),
      z.refine(fitsOneCertificate, {
        error: `\`from\` and \`to\` must be within ${certificateYears} calendar years`,
      }),
    ),
  result: z.object({
    /** In order. A day without an entry was read with the next one that has: `readWith`. */
    days: z.array(
      z.extend(dayProof, {
        /**
         * `proven`: by a read that began when the day was over. `open`: it is not over; proven is what it
         * had at the time of its proof, if it has one since it began. `unproven`: there is no proof, or none since it was over.
         * `not-yet`: it is still to come.
         */
        standing: z.enum(['proven', 'open', 'unproven', 'not-yet']),
        readWith: z.optional(day),
      }),
    ),
    /** Days that are still to be read again, of those with an entry; 0 unless `now`. */
    toRead: count,
    /** What reading again has found. Absent: not this call has read them, but scheduled ticks, if any. */
    found: z.optional(byKind),
    next,
  }),
};

export const checkNames = [
  'ledger',
  'topics',
  'secret',
  'token',
  'scope',
  'records',
  'time-zone',
  'day-bounds',
  'single-record',
] as const;

const check = {
  command: z.strictObject({ command: z.literal('check') }),
  result: z.object({
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
        organizations: z.array(
          z.object({ organization_id: z.int(), name: z.nullable(z.string()) }),
        ),
        assessments: z.array(z.string()),
      }),
    ),
  }),
};

export const looking = { status, explain, prove, check };
