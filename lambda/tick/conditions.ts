import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { conditionNotice, floodDetails } from '../delivery/notices.ts';
import type { Sighting } from '../detection/compare.ts';
import {
  type ConditionName,
  conditionNames,
  type Facts,
  type Observations,
  type OpenCondition,
  type OpenConditions,
  observe,
  settle,
} from '../detection/conditions.ts';
import { indexLagMinutes } from '../detection/digest-schedule.ts';
import { oddPaths } from '../detection/fingerprint.ts';
import type { Notice } from '../ports/announcer.ts';
import type { Kept } from '../ports/ledger.ts';
import type { PartnerReader, PulseRead, QuarantinedRecord } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import type { TickParts } from './parts.ts';

/** A record that stays malformed is reported once; beyond so many, they are only counted. */
const reportedKept = 50;

/** Enough to look at; the log is not to hold a list of everybody. */
const idsShown = 10;

/**
 * Tells operations what has been seen, once when it begins and once when it is over, and keeps what they were told in
 * the state. A notice that SNS refuses is owed, and tried again each time that anything is told; as long as it refuses
 * one, other owed ones wait for another tick.
 * Told first and noted then: a crash between the two tells one notice twice, and not the same tick.
 *
 * @param open brought up to date
 */
export async function tell(
  parts: TickParts,
  open: Map<ConditionName, OpenCondition>,
  seen: Observations,
): Promise<void> {
  const nowMs = parts.clock.now().epochMilliseconds;
  let isRefusing = false;
  const known = conditionNames.filter((name) => open.has(name) || seen[name]?.number);
  for (const name of known) {
    const before = open.get(name);
    const observation = seen[name];
    // What is owed is told as it was seen, also by those who know nothing of it.
    const observed = observation ? observe(before, observation, nowMs) : before;
    const isLeft: boolean = isRefusing && before?.owes !== undefined;
    const after: OpenCondition | undefined = isLeft ? observed : await told(parts, name, observed);
    isRefusing ||= after?.owes !== undefined;
    if (after === undefined) open.delete(name);
    else open.set(name, after);
    if (!isDeepStrictEqual(before, after))
      await parts.ledger.saveState({ conditions: new Map([[name, after]]) });
  }
}

/** @returns what is left of it, once the notice that it owes, if any, was accepted */
async function told(parts: TickParts, name: ConditionName, condition: OpenCondition | undefined) {
  if (condition?.owes === undefined) return condition;
  const nowMs = parts.clock.now().epochMilliseconds;
  const notice = conditionNotice(parts.settings, name, condition, nowMs);
  return (await isAccepted(parts, notice)) ? settle(condition, nowMs) : condition;
}

/** Whether operations have it; if not, it is owed. */
export async function isAccepted({ announcer, journal }: TickParts, notice: Notice) {
  const { subject } = notice;
  const told = await announcer.notify(notice);
  if (!told.accepted)
    journal.warn('notice refused', { subject, code: told.code, problem: told.denial });
  return told.accepted;
}

/**
 * Operations hear of a flood before anything of it is held.
 *
 * @param heldNow how many this tick holds by now: before its first, they are counted anew, since ops take from them
 * @returns whether they have; if not, nothing is held
 */
export async function tellFlood(
  parts: TickParts,
  open: Map<ConditionName, OpenCondition>,
  heldNow: number,
  changes: readonly Sighting[],
): Promise<boolean> {
  const { told, number: known = 0 } = open.get('held') ?? {};
  // Of what operations could not be told, nothing is held.
  let number = told === undefined ? 0 : known;
  if (number > 0 && heldNow === 0) {
    number = await kept(parts, 'held', open);
    await tell(parts, open, { held: { number } });
  }
  number += changes.length;
  await tell(parts, open, { held: { number, details: floodDetails(changes) } });
  return open.get('held')?.owes === undefined;
}

/** What waits for ops: counted anew when this tick has added nothing, since ops take from it. */
export async function waitingSeen(
  parts: TickParts,
  open: OpenConditions,
  { held, undeliverable }: Readonly<Record<Kept, number>>,
): Promise<Pick<Observations, Kept>> {
  const { number: heldBefore = 0 } = open.get('held') ?? {};
  const { number: asideBefore = 0 } = open.get('undeliverable') ?? {};
  const aside = asideBefore + undeliverable;
  return {
    // What waits behind a held event is of a certification that counts already.
    held: { number: held > 0 ? Math.max(heldBefore, held) : await kept(parts, 'held', open) },
    undeliverable: { number: undeliverable > 0 ? aside : await kept(parts, 'undeliverable', open) },
  };
}

/**
 * How many certifications have something that waits for ops, as far as the index is sure of it. What owes something
 * besides is in the index for that: only a look at the items is sure that there is none.
 */
async function kept({ ledger, clock }: TickParts, name: Kept, open: OpenConditions) {
  const condition = open.get(name);
  if (condition === undefined) return 0;
  const { since, number: known } = condition;
  if (clock.now().epochMilliseconds - since < indexLagMinutes * 60_000) return known;
  const counted = await ledger.countKept(name);
  if (counted > 0) return counted;
  for await (const { owed, unreadable } of ledger.kept(name))
    if (owed.length > 0 || unreadable.length > 0) return known;
  return 0;
}

/** The same partner; the records in its answers that are not as documented are noted. */
export function watching(partner: PartnerReader, { quarantined, oddFields }: Facts): PartnerReader {
  const noting =
    <Asked extends unknown[], Shown extends Omit<PulseRead, 'count'>>(
      ask: (...asked: Asked) => Promise<Shown>,
    ) =>
    async (...asked: Asked) => {
      const shown = await ask(...asked);
      for (const record of shown.quarantined) quarantined.set(nameOf(record), record);
      for (const assessment of shown.assessments)
        for (const path of oddPaths(assessment))
          oddFields.set(path, (oddFields.get(path) ?? new Set()).add(assessment.id));
      return shown;
    };
  const get = noting(async (...asked: Parameters<PartnerReader['get']>) => {
    const record = await partner.get(...asked);
    return { record, assessments: typeof record === 'object' ? [record] : [], quarantined: [] };
  });
  return {
    ...partner,
    pulse: noting(partner.pulse),
    tail: noting(partner.tail),
    prove: noting(partner.prove),
    get: async (...asked) => (await get(...asked)).record,
  };
}

/** Malformed records that no tick has reported yet. */
export function unreported({ quarantined }: Facts, { reported }: State) {
  return [...quarantined]
    .filter(([name]) => !reported.includes(name))
    .slice(0, reportedKept - reported.length);
}

/** What is odd and new goes into the log, with ids of records. */
export function logOdd(
  { journal }: Pick<TickParts, 'journal'>,
  { reported, oddFields }: Facts,
  open: OpenConditions,
): void {
  for (const { id, problems } of reported?.news ?? [])
    journal.warn('record quarantined', { id, problems });
  const { paths = {} } = open.get('odd-fields') ?? {};
  for (const [path, ids] of oddFields)
    if (!Object.hasOwn(paths, path))
      journal.warn('odd field', { path, records: ids.size, ids: [...ids].slice(0, idsShown) });
}

/** Short, because the state is written by every tick. */
function nameOf({ id, problems }: QuarantinedRecord): string {
  return id === undefined
    ? createHash('sha256').update(problems.join(';')).digest('base64url').slice(0, 6)
    : String(id);
}
