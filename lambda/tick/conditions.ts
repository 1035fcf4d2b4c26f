import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Sighting } from '../decisions/compare.ts';
import {
  type ConditionName,
  conditionNames,
  type Observations,
  type OpenCondition,
  type OpenConditions,
  observe,
  settle,
  type TickFacts,
} from '../decisions/conditions.ts';
import { indexLagMinutes } from '../decisions/digest-schedule.ts';
import { oddPaths } from '../decisions/fingerprint.ts';
import { conditionNotice, type FloodUntil, floodDetails } from '../delivery/notices.ts';
import type { Notice } from '../ports/announcer.ts';
import type { WaitsForOps } from '../ports/ledger.ts';
import type { PartnerReader, PulseRead, QuarantinedRecord } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import type { TickParts } from './parts.ts';

/**
 * The state remembers this many reported records, so that each is reported once. Further ones are
 * only counted.
 */
const reportedKept = 50;

/** The log needs examples, not a list of everybody. */
const idsShown = 10;

/**
 * Tells ops of each condition once when it begins and once when it ends. The state records the
 * notices.
 *
 * A notice that SNS refuses stays owed, and each later call tries it again. While SNS refuses one
 * notice, the other owed ones wait for another tick. The notice goes out before the state is
 * written. A crash between the two repeats one notice, in a later tick.
 *
 * @param open the open conditions, which this call updates
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
    // An owed notice goes out as it was seen, even if this call has no observation of it.
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

/** @returns the condition after its owed notice, if any, was accepted; undefined if it is over */
async function told(parts: TickParts, name: ConditionName, condition: OpenCondition | undefined) {
  if (condition?.owes === undefined) return condition;
  const nowMs = parts.clock.now().epochMilliseconds;
  const notice = conditionNotice(parts.settings, name, condition, nowMs);
  return (await isAccepted(parts, notice)) ? settle(condition, nowMs) : condition;
}

/** @returns whether SNS accepted the notice; if not, the notice is owed */
export async function isAccepted({ announcer, journal }: TickParts, notice: Notice) {
  const { subject } = notice;
  const told = await announcer.notify(notice);
  if (!told.accepted)
    journal.warn('notice refused', { subject, code: told.code, problem: told.denial });
  return told.accepted;
}

/**
 * Tells ops of a flood before any of its events is held.
 *
 * @param until when new changes of these kinds are no longer held
 * @param heldNow how many this tick has held so far; at 0 all held ones are counted anew, since ops
 * decide on them
 * @returns whether ops know; if not, nothing may be held
 */
export async function tellFlood(
  parts: TickParts,
  open: Map<ConditionName, OpenCondition>,
  heldNow: number,
  changes: readonly Sighting[],
  until: FloodUntil,
): Promise<boolean> {
  const { told, number: known = 0 } = open.get('held') ?? {};
  // Without an accepted notice nothing has been held, so the count begins at 0.
  let number = told === undefined ? 0 : known;
  if (number > 0 && heldNow === 0) {
    number = await stillWaiting(parts, 'held', open);
    await tell(parts, open, { held: { number } });
  }
  number += changes.length;
  await tell(parts, open, {
    held: { number, details: floodDetails(parts.settings, changes, until) },
  });
  return open.get('held')?.owes === undefined;
}

/**
 * The numbers of events that wait for ops. They are counted anew if this tick has added none, since
 * ops decide on them.
 */
export async function waitingSeen(
  parts: TickParts,
  open: OpenConditions,
  { held, undeliverable }: Readonly<Record<WaitsForOps, number>>,
): Promise<Pick<Observations, WaitsForOps>> {
  const { number: heldBefore = 0 } = open.get('held') ?? {};
  const { number: asideBefore = 0 } = open.get('undeliverable') ?? {};
  const aside = asideBefore + undeliverable;
  return {
    // An event behind a held one belongs to a certification that is counted already.
    held: {
      number: held > 0 ? Math.max(heldBefore, held) : await stillWaiting(parts, 'held', open),
    },
    undeliverable: {
      number: undeliverable > 0 ? aside : await stillWaiting(parts, 'undeliverable', open),
    },
  };
}

/**
 * Counts certifications whose events wait for ops. The index lags, so a young condition keeps its
 * number. An item that also owes a delivery is listed under the delivery, so only a look at the
 * items proves that none waits.
 */
async function stillWaiting({ ledger, clock }: TickParts, name: WaitsForOps, open: OpenConditions) {
  const condition = open.get(name);
  if (condition === undefined) return 0;
  const { since, number: known } = condition;
  if (clock.now().epochMilliseconds - since < indexLagMinutes * 60_000) return known;
  const counted = await ledger.countWaitingForOps(name);
  if (counted > 0) return counted;
  for await (const { owed, unreadable } of ledger.waitingForOps(name))
    if (owed.length > 0 || unreadable.length > 0) return known;
  return 0;
}

/** Wraps the partner, and notes quarantined records and odd fields of its answers. */
export function watching(
  partner: PartnerReader,
  { quarantined, oddFields }: TickFacts,
): PartnerReader {
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

/** Quarantined records that no tick has reported yet. */
export function unreported({ quarantined }: TickFacts, { reported }: State) {
  return [...quarantined]
    .filter(([name]) => !reported.includes(name))
    .slice(0, reportedKept - reported.length);
}

/** Logs new quarantined records and new odd fields, with the ids of their records. */
export function logOdd(
  { journal }: Pick<TickParts, 'journal'>,
  { reported, oddFields }: TickFacts,
  open: OpenConditions,
): void {
  for (const { id, problems } of reported?.news ?? [])
    journal.warn('record quarantined', { id, problems });
  const { paths = {} } = open.get('odd-fields') ?? {};
  for (const [path, ids] of oddFields)
    if (!Object.hasOwn(paths, path))
      journal.warn('odd field', { path, records: ids.size, ids: [...ids].slice(0, idsShown) });
}

/** Short, because every tick writes the state. */
function nameOf({ id, problems }: QuarantinedRecord): string {
  return id === undefined
    ? createHash('sha256').update(problems.join(';')).digest('base64url').slice(0, 6)
    : String(id);
}
