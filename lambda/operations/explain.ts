import { problemOf } from '../describe-error.ts';
import { fingerprintOf } from '../detection/fingerprint.ts';
import type { Life, Revision } from '../ports/ledger.ts';
import type { State } from '../ports/state.ts';
import type { ResultOf } from './contract.ts';
import { refuseIfLeftAlone } from './lease.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { dayProof } from './proofs.ts';

type Explanation = ResultOf<'explain'>;
type Delivery = NonNullable<Explanation['known']>['revisions'][number]['delivery'];

/**
 * The life of one assessment, as far as it was recorded, and why nothing was announced of it if
 * nothing was. Nothing personal: names of fields, ids and days.
 */
export const explain: Carrier<'explain'> = async (parts, { id }, { limit }) => {
  const state = await parts.ledger.recordedState();
  const story = await parts.opsLedger.story(id);
  const known = story && {
    ...story.certification,
    firstSeen: story.firstSeen,
    revisions: story.revisions.map((one) => ({
      ...one,
      event: one.kind === 'baseline' ? undefined : `${parts.settings.name}/${id}/${one.revision}`,
      delivery: deliveryOf(one),
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
};

function deliveryOf({ kind, waits, undone, decisions }: Revision): Delivery {
  const last = decisions.at(-1)?.decision;
  if (waits === 'digest') return last === 'released-to-people' ? 'digest-only-owed' : 'digest-owed';
  if (waits !== undefined) return waits;
  if (undone) return 'undone';
  if (last === 'discarded') return 'discarded';
  if (last === 'released-to-people') return 'announced-to-people';
  return kind === 'baseline' ? 'baseline' : 'announced';
}

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
  return entry && { day, ...dayProof(entry) };
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
