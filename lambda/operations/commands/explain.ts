import * as z from 'zod/mini';
import { problemOf } from '../../describe-error.ts';
import { presence } from '../../detection/compare.ts';
import { fingerprintOf } from '../../detection/fingerprint.ts';
import type { Life } from '../../ports/ledger.ts';
import { revisionNoted } from '../../ports/ledger.ts';
import type { State } from '../../ports/state.ts';
import { define } from '../definition.ts';
import { refuseIfLeftAlone } from '../lease.ts';
import { delivery, revisionsTold } from '../lives.ts';
import type { Call, OperationParts } from '../parts.ts';
import { proofOfDay } from '../proofs.ts';
import { count, day, dayProof, id, instant, problemSchema } from '../shapes.ts';

const revisionStory = z.extend(z.omit(revisionNoted, { undone: true }), {
  revision: count,
  /** Of the event that it has; absent: none was made (baseline). */
  event: z.optional(z.string()),
  delivery,
  /** With which SNS has refused it for good. */
  code: z.optional(z.string()),
  /** It waits only because one before it is held. */
  behind: z.optional(z.boolean()),
});

const result = z.object({
  id: count,
  /**
   * The gist. Known: what became of its last revision. Not known: `quarantined` (the partner's record
   * has no usable id or day), `not-yet-seen` (the partner has it, no tick has found it), `not-at-partner`
   * (404: unknown, out of scope, or the id of a part), `partner-silent` (it could not be asked).
   * `unknown`: its last revision was recorded before there was a history.
   */
  verdict: z.enum([
    ...delivery.options,
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
});

type Explanation = z.output<typeof result>;

/**
 * The life of one assessment, as far as it was recorded, and why nothing was announced of it if
 * nothing was. Nothing personal: names of fields, ids and days.
 */
export const explain = define({
  does: 'The life of one assessment: each sight and announcement of it, or why there was none.',
  command: z.strictObject({ command: z.literal('explain'), id }),
  result,
  async carry(parts, { id }, { limit }) {
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
    const partner = await ask(parts, id, limit, state, story);
    const isReported = partner.has === 'no-answer' && state?.reported.includes(String(id));
    // One that was recorded before there was a history tells nothing of its last revision.
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

/** A partner that does not answer is part of the story. */
async function ask(
  parts: OperationParts,
  id: number,
  limit: Call['limit'],
  state: State | undefined,
  story: Life | undefined,
): Promise<Explanation['partner']> {
  try {
    refuseIfLeftAlone(state, parts);
    const record = await parts.partner.get(id, limit.deadline);
    if (record === undefined) return { has: 'nothing' };
    if (record === 'unreadable') return { has: 'malformed' };
    const whole = state && fingerprintOf(record, state.salt).whole;
    return {
      has: 'record',
      day: record.certified_on,
      organization_id: record.organization_id,
      asRecorded: story && whole === story.certification.fingerprint.whole,
    };
  } catch (error) {
    return { has: 'no-answer', problem: problemOf(error, 'command') };
  }
}
