import * as z from 'zod/mini';
import { presence } from '../decisions/compare.ts';
import { isAsIn } from '../decisions/fingerprint.ts';
import { revisionNoted } from '../decisions/history.ts';
import type { State } from '../decisions/state.ts';
import { problemOf } from '../describe-error.ts';
import type { Life } from '../ports/ledger.ts';
import { deadlineOf } from '../tick/time.ts';
import { define } from './definition.ts';
import { refuseIfLeftAlone } from './lease.ts';
import { delivery, revisionsTold } from './lives.ts';
import type { Call, OperationParts } from './parts.ts';
import { proofOfDay } from './proofs.ts';
import { count, day, dayProof, id, instant, problemSchema } from './shapes.ts';
import { setting } from './words.ts';

const revisionStory = z.extend(z.omit(revisionNoted, { undone: true }), {
  revision: count,
  /** The id of its event; absent: none was made (baseline). */
  event: z.optional(z.string()),
  delivery,
  /** The code with which SNS refused it for good. */
  code: z.optional(z.string()),
  /** It waits only because one before it is held. */
  behind: z.optional(z.boolean()),
});

const result = z.object({
  id: count,
  /**
   * The gist. A known certification has the delivery of its last revision, or `unknown`: that
   * revision was recorded before there was a history. Otherwise:
   *
   * - `quarantined`: the partner's record has no usable id or day.
   * - `not-yet-seen`: the partner has it, and no tick has found it.
   * - `not-at-partner`: 404, so it is unknown, out of scope, or the id of a part.
   * - `partner-silent`: the partner could not be asked.
   */
  verdict: z.enum([
    ...delivery.options,
    'quarantined',
    'not-yet-seen',
    'not-at-partner',
    'partner-silent',
    'unknown',
  ]),
  /** Absent: the ledger lacks it. */
  known: z.optional(
    z.object({
      day,
      presence,
      revision: count,
      organization_id: z.nullable(z.int()),
      assessment_name: z.nullable(z.string()),
      /** Absent: recorded before this was stored. */
      firstSeen: z.optional(instant),
      /** The newest fifty at most, oldest first. */
      revisions: z.array(revisionStory),
    }),
  ),
  /** Its day in the calendar, by the ledger or by the partner's record. */
  day: z.optional(dayProof),
  /** The partner's answer for this id, now. */
  partner: z.union([
    z.object({
      has: z.literal('record'),
      day,
      organization_id: z.nullable(z.int()),
      /** Whether it equals the last recorded one; absent: none was. */
      asRecorded: z.optional(z.boolean()),
    }),
    z.object({ has: z.enum(['nothing', 'malformed']) }),
    z.object({ has: z.literal('no-answer'), problem: problemSchema }),
  ]),
});

type Explanation = z.output<typeof result>;

/**
 * The life of one assessment, as far as it was recorded, or why nothing was announced of it.
 * Nothing personal: names of fields, ids and days.
 */
export const explain = define({
  does: 'The life of one assessment: each sight and announcement of it, or why there was none.',
  command: z.strictObject({
    command: z.literal('explain'),
    id: setting(id, 'top-level id of the assessment', { isArgument: true }),
  }),
  result,
  async carry(parts, { id }, { time }) {
    const state = await parts.ledger.recordedState();
    const story = await parts.opsLedger.story(id);
    const known = story && {
      ...story.certification,
      firstSeen: story.firstSeen,
      revisions: revisionsTold(parts.settings.name, story).map((one) => ({
        ...one,
        behind: one.isBehind || undefined,
      })),
    };
    const partner = await ask(parts, id, time, state, story);
    const isReported = partner.has === 'no-answer' && state?.reported.includes(String(id));
    // A certification from before there was a history has no note of its last revision.
    const last = known?.revisions.find(({ revision }) => revision === known.revision);
    const ofOther = isReported ? 'quarantined' : verdicts[partner.has];
    const day = known?.day ?? (partner.has === 'record' ? partner.day : undefined);
    const verdict: Explanation['verdict'] = known ? (last?.delivery ?? 'unknown') : ofOther;
    return { result: { id, verdict, known, partner, day: await dayOf(parts, day) } };
  },
});

const verdicts = {
  record: 'not-yet-seen',
  nothing: 'not-at-partner',
  malformed: 'quarantined',
  'no-answer': 'partner-silent',
} as const;

async function dayOf({ ledger }: OperationParts, day: string | undefined) {
  if (day === undefined) return undefined;
  const calendar = await ledger.calendar([Number(day.slice(0, 4))]);
  const entry = calendar.get(day);
  return entry && { day, ...proofOfDay(entry) };
}

/** A missing answer of the partner is part of the result. */
async function ask(
  parts: OperationParts,
  id: number,
  time: Call['time'],
  state: State | undefined,
  story: Life | undefined,
): Promise<Explanation['partner']> {
  try {
    refuseIfLeftAlone(state, parts);
    const record = await parts.partner.get(id, deadlineOf(time));
    if (record === undefined) return { has: 'nothing' };
    if (record === 'unreadable') return { has: 'malformed' };
    return {
      has: 'record',
      day: record.certified_on,
      organization_id: record.organization_id,
      asRecorded:
        state && story && isAsIn(record, story.certification.fingerprint.whole, state.salt),
    };
  } catch (error) {
    return { has: 'no-answer', problem: problemOf(error, 'command') };
  }
}
