import { isDeepStrictEqual } from 'node:util';
import { conditionNotice, floodDetails } from '../delivery/notices.ts';
import type { Sighting } from '../detection/compare.ts';
import {
  accessNames,
  type ConditionName,
  conditionNames,
  type Observations,
  type OpenCondition,
  type OpenConditions,
  observe,
  oddSeen,
  settle,
} from '../detection/conditions.ts';
import { indexLagMinutes } from '../detection/digest-schedule.ts';
import type { MetPaths } from '../detection/odd-fields.ts';
import { NotifierError } from '../errors.ts';
import type { TickParts } from './parts.ts';

/** Enough to look at; the log is not to hold a list of everybody. */
const idsShown = 10;

/**
 * Tells operations what has been seen, once when it begins and once when it is over, and keeps what they were told in
 * the state. A notice that SNS refuses is owed; as long as it refuses one, other owed ones wait for another tick.
 * Told first and noted then: a crash between the two tells one notice twice.
 *
 * @returns what is open now
 */
export async function tell(
  parts: TickParts,
  open: OpenConditions,
  seen: Observations,
): Promise<OpenConditions> {
  const nowMs = parts.clock.now().epochMilliseconds;
  const now = new Map(open);
  let isRefusing = false;
  for (const name of conditionNames) {
    const observation = seen[name];
    if (observation === undefined) continue;
    const before = open.get(name);
    const observed = observe(before, observation, nowMs);
    const isToldNow: boolean = !isRefusing || before?.owes === undefined;
    const isOwing: boolean = observed?.owes !== undefined;
    const after: OpenCondition | undefined =
      observed && isOwing && isToldNow ? await tellOf(parts, name, observed) : observed;
    isRefusing ||= after?.owes !== undefined;
    if (after === undefined) now.delete(name);
    else now.set(name, after);
    if (!isDeepStrictEqual(before, after))
      await parts.ledger.saveState({ conditions: new Map([[name, after]]) });
  }
  return now;
}

async function tellOf(
  { announcer, journal, settings, clock }: TickParts,
  name: ConditionName,
  condition: OpenCondition,
): Promise<OpenCondition | undefined> {
  const nowMs = clock.now().epochMilliseconds;
  const told = await announcer.notify(conditionNotice(settings, name, condition, nowMs));
  if (told.accepted) return settle(condition, nowMs);
  journal.warn('notice refused', { condition: name, code: told.code });
  return condition;
}

/** The condition that an error begins: of something in the way of every tick. */
export function accessNameOf(error: unknown): (typeof accessNames)[number] | undefined {
  if (!(error instanceof NotifierError) || error.reach !== 'access') return undefined;
  return accessNames.find((name) => name === error.code);
}

/**
 * Operations hear of a flood before anything of it is held: if they do not, it still owes its notice then.
 *
 * @param heldNow how many this tick holds by now: before its first, they are counted anew, since ops take from them
 */
export async function tellFlood(
  parts: TickParts,
  open: OpenConditions,
  heldNow: number,
  changes: readonly Sighting[],
): Promise<OpenConditions> {
  const held = open.get('held');
  // Of what operations could not be told, nothing is held.
  const known = held?.told === undefined ? 0 : held.number;
  const isCounted = known > 0 && heldNow === 0;
  const number = isCounted ? await kept(parts, 'held', open, known) : known;
  const counted = isCounted ? await tell(parts, open, { held: { number } }) : open;
  const details = floodDetails(changes);
  return tell(parts, counted, { held: { number: number + changes.length, details } });
}

/** What waits for ops: counted anew when this tick has added nothing, since ops take from it. */
export async function waitingSeen(
  parts: TickParts,
  open: OpenConditions,
  now: { readonly held: number; readonly undeliverable: number },
): Promise<Observations> {
  const number = async (name: Waiting, withNew: (known: number) => number) => {
    const { number: known = 0 } = open.get(name) ?? {};
    return now[name] > 0 ? withNew(known) : kept(parts, name, open, known);
  };
  return {
    // What waits behind a held event is of a certification that counts already.
    held: { number: await number('held', (known) => Math.max(known, now.held)) },
    undeliverable: {
      number: await number('undeliverable', (known) => known + now.undeliverable),
    },
  };
}

type Waiting = 'held' | 'undeliverable';

/**
 * How many certifications have something that waits for ops, as far as the index is sure of it. What owes something
 * besides is in the index for that: only a look at the items is sure that there is none.
 */
async function kept(
  { ledger, clock }: TickParts,
  name: Waiting,
  open: OpenConditions,
  known: number,
): Promise<number> {
  const { since } = open.get(name) ?? {};
  if (since === undefined) return 0;
  if (clock.now().epochMilliseconds - since < indexLagMinutes * 60_000) return known;
  const counted = await ledger.countKept(name);
  if (counted > 0) return counted;
  for await (const { owed, unreadable } of ledger.kept(name))
    if (owed.length > 0 || unreadable.length > 0) return known;
  return 0;
}

/** New paths are in the log, with the ids of some records. */
export function oddTold(
  { journal }: Pick<TickParts, 'journal'>,
  open: OpenConditions,
  met: MetPaths,
  nowMs: number,
): Observations {
  const { paths = {} } = open.get('odd-fields') ?? {};
  for (const [path, ids] of met)
    if (!Object.hasOwn(paths, path))
      journal.warn('odd field', { path, records: ids.size, ids: [...ids].slice(0, idsShown) });
  return oddSeen(open, met, nowMs);
}
