import * as z from 'zod/mini';
import { found, presence } from '../../detection/compare.ts';
import { decided } from '../../ports/ledger.ts';
import { count, day, instant, kind, problemSchema, proof } from './common.ts';

/** What has become of a revision, and so of the certification if it is its last. */
const outcomes = [
  'baseline',
  'digest-owed',
  'digest-only-owed',
  'pending',
  'held',
  'undeliverable',
  'discarded',
  'undone',
] as const;

const revisionStory = z.object({
  revision: count,
  kind: z.enum(['baseline', ...kind.options]),
  at: instant,
  /** Names of the fields that differ from the revision before. */
  changed: z.array(z.string()),
  /**
   * `page`: the newest page showed it. `search`: the total said that days differ. `audit`: nothing had
   * suggested it. `baseline`: a full read that announces what it finds. Of the latter three, the proof of
   * that read. Absent where the baseline has recorded it silently.
   */
  found: z.optional(found),
  /** Of the event that it has; absent: none was made (baseline). */
  event: z.optional(z.string()),
  /**
   * `baseline`: recorded, not announced. `delivered`: SNS has accepted it, people are told as well.
   * `digest-owed`: people are still to be told. `digest-only`: released for people, not for machines;
   * `digest-only-owed`: and they are still to be told. `undone`: it was held, or undid what was, and left the
   * outbox by itself.
   */
  delivery: z.enum([...outcomes, 'delivered', 'digest-only']),
  /** With which SNS has refused it for good. */
  code: z.optional(z.string()),
  /** It waits only because one before it is held. */
  behind: z.optional(z.boolean()),
  /** What ops have decided about it, oldest first. */
  decisions: z.array(decided),
});

export const explainResult = z.object({
  id: count,
  /**
   * The gist. Known: what became of its last revision. Not known: `quarantined` (the partner's record
   * has no usable id or day), `not-yet-seen` (the partner has it, no tick has found it), `not-at-partner`
   * (404: unknown, out of scope, or the id of a part), `partner-silent` (it could not be asked).
   * `unknown`: its last revision was recorded before there was a history.
   */
  verdict: z.enum([
    ...outcomes,
    'announced',
    'announced-to-people',
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
      firstSeen: z.optional(
        z.object({
          at: instant,
          /** `baseline`: by a full read, whether or not that announced it. */
          by: z.enum(['baseline', 'tick', 'unknown']),
          /** By the day it has now, it was completed before the recent window began. */
          late: z.boolean(),
        }),
      ),
      /** The newest fifty at most, oldest first. */
      revisions: z.array(revisionStory),
    }),
  ),
  /** Its day in the calendar, by what is known of it or by the partner's record. */
  day: z.optional(
    z.object({
      day,
      count,
      since: z.optional(z.int()),
      proof: z.optional(proof),
      readAt: z.optional(instant),
      unprovenSince: z.optional(instant),
    }),
  ),
  /** What the partner has under this id now; absent: not asked. */
  partner: z.optional(
    z.union([
      z.object({
        has: z.literal('record'),
        day,
        organization_id: z.nullable(z.int()),
        /** It is what was recorded last; absent: nothing was. */
        asRecorded: z.optional(z.boolean()),
      }),
      z.object({ has: z.literal('nothing') }),
      z.object({ has: z.literal('malformed') }),
      z.object({ has: z.literal('no-answer'), problem: problemSchema }),
    ]),
  ),
  /** What keeps ticks from finding what they have not found yet. */
  hindrances: z.array(
    z.enum([
      'never-ticked',
      'paused',
      'backing-off',
      'baseline-running',
      'missing',
      'day-unproven',
    ]),
  ),
});
