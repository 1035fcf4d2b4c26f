import { Temporal } from 'temporal-polyfill';
import { isLate, recentWindow } from '../detection/days.ts';
import { fingerprintOf } from '../detection/fingerprint.ts';
import type { State } from '../ports/state.ts';
import { isBackingOff } from '../tick/back-off.ts';
import { problemOf } from './answer.ts';
import type { ResultOf } from './contract.ts';
import { refuseIfLeftAlone } from './left-alone.ts';
import type { CertificationStory, RevisionStory } from './ops-ledger.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { dayProof } from './proofs.ts';

type Explanation = ResultOf<'explain'>;
type Known = NonNullable<Explanation['known']>;
type Delivery = Known['revisions'][number]['delivery'];
type AtPartner = NonNullable<Explanation['partner']>;

const verdicts: Readonly<Record<Delivery, Explanation['verdict']>> = {
  baseline: 'baseline',
  delivered: 'announced',
  'digest-owed': 'digest-owed',
  'digest-only-owed': 'digest-only-owed',
  'digest-only': 'announced-to-people',
  pending: 'pending',
  held: 'held',
  undeliverable: 'undeliverable',
  discarded: 'discarded',
  undone: 'undone',
};

/**
 * The life of one assessment, as far as it was recorded, and why nothing was announced of it if
 * nothing was. Nothing personal: names of fields, ids and days.
 */
export const explain: Carrier<'explain'> = async (parts, { id, partner }, { limit }) => {
  const { ledger, opsLedger, settings } = parts;
  const state = await ledger.recordedState();
  const story = await opsLedger.story(id);
  const known = story && knownOf(story, settings);
  const isAsked = partner || story === undefined;
  const atPartner = isAsked ? await ask(parts, id, limit, state, story) : undefined;
  const day = known?.day ?? (atPartner?.has === 'record' ? atPartner.day : undefined);
  const calendar = day === undefined ? undefined : await ledger.calendar([Number(day.slice(0, 4))]);
  const entry = day === undefined ? undefined : calendar?.get(day);
  const verdict = known === undefined ? unknownVerdict(id, atPartner, state) : verdictOf(known);
  return {
    result: {
      id,
      verdict,
      ...(known && { known }),
      ...(day !== undefined && entry && { day: { day, ...withoutDigest(dayProof(entry)) } }),
      ...(atPartner && { partner: atPartner }),
      hindrances: hindrancesOf(state, parts, entry?.readAt !== undefined && !entry.proof),
    },
  };
};

function knownOf(
  { certification, firstSeen, revisions }: CertificationStory,
  settings: OperationParts['settings'],
): Known {
  const { id, day, presence, revision, organization_id, assessment_name } = certification;
  const first = revisions.find((one) => one.revision === 1);
  const at = firstSeen ?? first?.at ?? revisions[0]?.at;
  return {
    day,
    presence,
    revision,
    organization_id,
    assessment_name,
    ...(at !== undefined && { firstSeen: seen(at, day, first, settings) }),
    revisions: revisions.map((one) => ({
      revision: one.revision,
      kind: one.kind,
      at: one.at,
      changed: [...one.changed],
      ...(one.found && { found: one.found }),
      ...(one.kind !== 'baseline' && { event: `${settings.name}/${id}/${one.revision}` }),
      delivery: deliveryOf(one),
      ...(one.code !== undefined && { code: one.code }),
      ...(one.isBehind && { behind: true }),
      decisions: [...one.decisions],
    })),
  };
}

function seen(
  at: string,
  day: string,
  first: RevisionStory | undefined,
  { timeZone, recentDays }: OperationParts['settings'],
) {
  const isBaseline = first?.kind === 'baseline' || first?.found?.in === 'baseline';
  const by = isBaseline ? ('baseline' as const) : ('tick' as const);
  const window = recentWindow(Temporal.Instant.from(at), timeZone, recentDays);
  return { at, by: first === undefined ? ('unknown' as const) : by, late: isLate(day, window) };
}

function deliveryOf({ kind, waits, isUndone, decisions }: RevisionStory): Delivery {
  const last = decisions.at(-1)?.decision;
  if (waits === 'digest') return last === 'released-to-people' ? 'digest-only-owed' : 'digest-owed';
  if (waits !== undefined) return waits;
  if (isUndone) return 'undone';
  if (last === 'discarded') return 'discarded';
  if (last === 'released-to-people') return 'digest-only';
  return kind === 'baseline' ? 'baseline' : 'delivered';
}

/** Of its last revision; one that was recorded before there was a history tells nothing. */
function verdictOf({ revision, revisions }: Known): Explanation['verdict'] {
  const last = revisions.find((one) => one.revision === revision);
  return last === undefined ? 'unknown' : verdicts[last.delivery];
}

function unknownVerdict(
  id: number,
  partner: AtPartner | undefined,
  state: State | undefined,
): Explanation['verdict'] {
  switch (partner?.has) {
    case 'malformed':
      return 'quarantined';
    case 'record':
      return 'not-yet-seen';
    case 'nothing':
      return 'not-at-partner';
    default:
      return state?.reported.includes(String(id)) ? 'quarantined' : 'partner-silent';
  }
}

/** A partner that does not answer is part of the story. */
async function ask(
  parts: OperationParts,
  id: number,
  limit: Call['limit'],
  state: State | undefined,
  story: CertificationStory | undefined,
): Promise<AtPartner> {
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
      ...(story && { asRecorded: whole === story.certification.fingerprint.whole }),
    };
  } catch (error) {
    return { has: 'no-answer', problem: problemOf(error) };
  }
}

function hindrancesOf(
  state: State | undefined,
  parts: OperationParts,
  isDayUnproven: boolean,
): Explanation['hindrances'] {
  if (state === undefined) return ['never-ticked'];
  const { paused, baseline, missing } = state;
  return [
    ...(paused ? (['paused'] as const) : []),
    ...(isBackingOff(state, parts) ? (['backing-off'] as const) : []),
    ...(baseline.status === 'completed' ? [] : (['baseline-running'] as const)),
    ...(missing?.tooManySince === undefined ? [] : (['missing'] as const)),
    ...(isDayUnproven ? (['day-unproven'] as const) : []),
  ];
}

function withoutDigest({ digest: _, ...rest }: ReturnType<typeof dayProof>) {
  return rest;
}
