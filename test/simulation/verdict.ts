import { fingerprintOf } from '../../lambda/decisions/fingerprint.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { TickSettings } from '../../lambda/settings.ts';
import { filedUnder, type MemoryLedger } from '../scaffold/memory-ledger.ts';
import type { Audience } from './audience.ts';
import { thatHold } from './coverage.ts';
import type { Timeline } from './timeline.ts';
import type { Witness } from './witness.ts';
import { numberAsText, type World } from './world.ts';

export interface AfterALife {
  readonly world: Pick<World, 'entries' | 'births' | 'disturbedAt'>;
  readonly ledger: MemoryLedger;
  readonly audience: Pick<Audience, 'told' | 'mailed' | 'notices'>;
  readonly witness: Pick<Witness, 'startedAt' | 'startDay' | 'completedAt'>;
  readonly settings: TickSettings;
  readonly timeline: Pick<Timeline, 'nowMs'>;
  readonly isSlow: boolean;
  /** The pace cut off the last read of this day, so its rest proves nothing. */
  isCutOff(day: string): boolean;
  /** The moment until which lists contradicted their counts. */
  readonly contradictedUntil: number;
  /** Each day has been audited since the last event. */
  readonly isAudited: boolean;
}

/** A slow host's pace cannot read its day: nothing is withdrawn there (docs/detection.md, Limits). */
export function lacksProof(
  { ledger: { items, days }, isCutOff }: Pick<AfterALife, 'ledger' | 'isCutOff'>,
  id: number,
): boolean {
  const day = items.get(id)?.certification.day;
  return day !== undefined && days.get(day)?.proof === undefined && isCutOff(day);
}

const judged = new WeakMap<Assessment, string>();

/** Computed separately, so that the ticks' cached fingerprints are judged, too. */
function trueFingerprint(assessment: Assessment): string {
  const whole = judged.get(assessment) ?? fingerprintOf({ ...assessment }, 'salt').whole;
  judged.set(assessment, whole);
  return whole;
}

/** The broken promises, with the world at rest and all audits done. */
export async function judge(after: AfterALife): Promise<string[]> {
  const { world, ledger, audience, settings } = after;
  const held = new Map(ledger.held.map(({ event }) => [event.id, event]));
  const subjects = audience.notices.map(({ subject }) => subject);
  return [
    ...(await calendarFindings(after)),
    ...(await conditionFindings(after)),
    ...[...world.entries].flatMap(([id, { assessment }]) => {
      const known = ledger.items.get(id)?.certification;
      if (known === undefined) return `${id} was missed`;
      if (known.presence !== 'present') return `${id} is thought withdrawn`;
      return thatHold({
        [`${id} is known as it was before`]:
          known.fingerprint.whole !== trueFingerprint(assessment),
        [`${id} has another day`]: known.day !== assessment.certified_on,
      });
    }),
    ...[...ledger.items].flatMap(([id, { certification, ...item }]) => [
      ...thatHold({
        [`${id} is gone and was not withdrawn`]:
          certification.presence === 'present' && !world.entries.has(id) && !lacksProof(after, id),
        [`${id} still owes`]: ['pending', 'digest'].includes(filedUnder(item) ?? ''),
      }),
      ...announcementFindings(after, id, certification.revision, held),
    ]),
    ...[...audience.told.keys()]
      .filter((id) => !audience.mailed.has(id))
      .map((id) => `nobody was mailed about ${id}`),
    ...[...held.keys()].filter((id) => audience.told.has(id)).map((id) => `${id} is held and told`),
    ...thatHold({
      'operations were not told of what is held':
        held.size > 0 && !subjects.some((subject) => subject.includes('held')),
      'operations were not told that the baseline is completed': !subjects.includes(
        `${settings.name}: baseline completed`,
      ),
    }),
  ];
}

/**
 * Conditions as ops know them: no notice is owed, and only conditions of held events, odd fields,
 * a true silence and a slow host may last. The latter are not checked.
 */
async function conditionFindings(after: AfterALife): Promise<string[]> {
  const { world, ledger, isAudited, isSlow, isCutOff } = after;
  const { conditions } = await ledger.state();
  const held = new Set(ledger.held.map(({ certificationId }) => certificationId)).size;
  const isHeld = held > 0;
  const isOdd = [...world.entries.values()].some(
    ({ assessment, odd = {} }) =>
      lacksSomething(assessment) || Object.values(odd).includes(numberAsText),
  );
  const told = conditions.get('held')?.number ?? 0;
  const silent = isSilent(after);
  const isUnread = [...ledger.days].some(
    ([day, { proof }]) => proof === undefined && isCutOff(day),
  );
  const mayLast = thatHold({
    ...{ held: isHeld, 'odd-fields': isOdd, 'check-failed': true, silent },
    // Such a host goes on refusing, and a day without a proof may have a malformed record.
    ...{ 'rate-limited': isSlow, quarantined: isUnread, unproven: isUnread },
  });
  return [
    ...[...conditions].flatMap(([name, { owes }]) =>
      thatHold({
        [`operations are owed that ${name} ${owes}`]: owes !== undefined,
        [`${name} is thought to last`]: isAudited && !mayLast.includes(name),
      }),
    ),
    ...thatHold({
      [`${held} are held, and ${told} are thought to be`]: isAudited && told !== held,
      'odd fields are thought to be gone': isOdd && !conditions.has('odd-fields'),
      'what is held is thought to be gone': isHeld && !conditions.has('held'),
    }),
  ];
}

/** For days, nothing was certified. */
function isSilent({ world, timeline: { nowMs } }: AfterALife): boolean {
  const days = [...world.entries.values()].map(({ assessment }) =>
    Date.parse(assessment.certified_on),
  );
  return nowMs - Math.max(...days.filter((day) => day <= nowMs)) > 4 * 86_400_000;
}

/** Computed in another way than the tick's. */
function lacksSomething({ seid: _, ...promised }: Assessment): boolean {
  return isLacking(promised);
}

function isLacking(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === 'object' && Object.values(value).some(isLacking);
}

async function calendarFindings(after: AfterALife): Promise<string[]> {
  const { world, ledger, isAudited, isCutOff } = after;
  const { expected, unexplained, dirtySince, missing } = await ledger.state();
  const present = world.entries.size;
  const days = Map.groupBy(world.entries.values(), ({ assessment }) => assessment.certified_on);
  return [
    ...thatHold({
      [`${present} are there, ${expected} expected, ${unexplained} unexplained`]:
        expected !== present || unexplained !== 0 || (missing?.total ?? 0) !== 0,
      'the state is still dirty': dirtySince !== undefined,
    }),
    ...[...ledger.days].flatMap(([day, { count, missing = 0, proof, failures }]) =>
      thatHold({
        [`${day} is counted wrongly: ${count}`]: count !== (days.get(day)?.length ?? 0),
        [`${missing} are thought to be missing on ${day}`]: missing !== 0,
        [`${day} is not proven`]:
          isAudited && proof === undefined && (failures !== undefined || !isCutOff(day)),
      }),
    ),
    ...[...days.keys()].filter((day) => !ledger.days.has(day)).map((day) => `${day} is unknown`),
  ];
}

/**
 * Each revision has its event, of the right type. A recorded certification of the baseline need not
 * have its first.
 */
function announcementFindings(
  after: AfterALife,
  id: number,
  revisions: number,
  held: ReadonlyMap<string, CertificationEvent>,
): string[] {
  const { audience } = after;
  const history = after.ledger.items.get(id)?.history ?? [];
  const undone = new Set(history.flatMap((one) => (one.undone ? one.revision : [])));
  const revisionsOfIt = Array.from({ length: revisions }, (_, index) => index + 1);
  // Subscribers have heard of nothing before it: each earlier revision has been undone.
  const firstTold = revisionsOfIt.find((revision) => !undone.has(revision)) ?? revisions;
  const findings = revisionsOfIt.flatMap((revision) => {
    const eventId = `sim/${id}/${revision}`;
    const type = (audience.told.get(eventId) ?? held.get(eventId))?.type;
    const exists = type !== undefined;
    const isUndone = undone.has(revision);
    return thatHold({
      [`no event ${eventId}`]: !exists && !isUndone && (revision > 1 || mustBeTold(after, id)),
      [`${eventId} is undone, and told or held`]: exists && isUndone,
      [`${eventId} was there before the baseline`]:
        audience.told.has(eventId) && revision === 1 && mustBeSilent(after, id),
      [`${eventId} is of the wrong type`]:
        exists && (type === 'certification.created') !== revision <= firstTold,
    });
  });
  return audience.told.has(`sim/${id}/${revisions + 1}`)
    ? [...findings, `an event of ${id} that the ledger does not know`]
    : findings;
}

/**
 * Born after the baseline; or during it, on its start day or later and after that was recorded; or
 * by the setting. Either is allowed for records that moved, vanished or were renamed meanwhile, and
 * where one that was lacking may have gone before another came (decision 30).
 */
function mustBeTold(after: AfterALife, id: number): boolean {
  const { world, witness, settings, contradictedUntil } = after;
  const birth = world.births.get(id);
  if (birth === undefined) return true;
  if (settings.announce === 'all') return true;
  if (birth.moment > Math.max(witness.completedAt, contradictedUntil)) return true;
  if (world.disturbedAt.has(id) || birth.moment <= contradictedUntil) return false;
  if (settings.announce !== 'none' && birth.day >= settings.announce.since) return true;
  return birth.moment > witness.startedAt && birth.day >= witness.startDay;
}

/**
 * It was there from the first, and nothing happened to it. It may be held. One that moves away from
 * a day that the baseline could not read is news elsewhere: decision 30.
 */
function mustBeSilent({ world, settings }: AfterALife, id: number): boolean {
  const isFirst = world.births.get(id)?.moment === 0;
  return settings.announce === 'none' && isFirst && !world.disturbedAt.has(id);
}
