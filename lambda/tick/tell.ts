import { isDeepStrictEqual } from 'node:util';
import type { Sighting } from '../decisions/compare.ts';
import { conditionNames, type Observations, observe, settle } from '../decisions/conditions.ts';
import { indexLagMinutes } from '../decisions/digest-schedule.ts';
import { conditionNotice, type FloodUntil, floodDetails } from '../delivery/notices.ts';
import type { Notice } from '../ports/announcer.ts';
import type { WaitsForOps } from '../ports/ledger.ts';
import type { Done } from './done.ts';
import type { Step, TickParts } from './parts.ts';

/**
 * Tells ops of each condition once when it begins and once when it ends. The state records the
 * notices.
 *
 * A notice that SNS refuses stays owed, and each later call tries it again. While SNS refuses one
 * notice, the other owed ones wait for another tick. The notice goes out before the state is
 * written. A crash between the two repeats one notice, in a later tick.
 */
export async function* tell(parts: TickParts, seen: Observations): Step {
  const { ledger, clock, settings } = parts;
  const nowMs = clock.now().epochMilliseconds;
  const { open } = yield;
  let isRefusing = false;
  for (const name of conditionNames.filter((one) => open.has(one) || seen[one]?.number)) {
    const before = open.get(name);
    const observation = seen[name];
    // An owed notice goes out as it was seen, even if this call has no observation of it.
    let condition = observation ? observe(before, observation, nowMs) : before;
    const isLeft = isRefusing && before?.owes !== undefined;
    if (condition?.owes !== undefined && !isLeft) {
      const at = clock.now().epochMilliseconds;
      const notice = conditionNotice(settings, name, condition, at);
      if (yield* notified(parts, notice)) condition = settle(condition, at);
    }
    isRefusing ||= condition?.owes !== undefined;
    yield { is: 'told', name, condition };
    if (!isDeepStrictEqual(before, condition))
      await ledger.saveState({ conditions: new Map([[name, condition]]) });
  }
}

/** Whether SNS accepted the notice; if not, the notice is owed. */
export async function* notified({ announcer }: TickParts, notice: Notice): Step<boolean> {
  const told = await announcer.notify(notice);
  if (told.accepted) return true;
  const details = { subject: notice.subject, code: told.code, problem: told.denial };
  yield { is: 'warned', what: 'notice refused', details };
  return false;
}

/**
 * Tells ops of a flood before any of its events is held. If this tick has held none so far, all held
 * ones are counted anew, since ops decide on them.
 *
 * @param until when new changes of these kinds are no longer held
 * @returns whether ops know; if not, nothing may be held
 */
export async function* tellFlood(
  parts: TickParts,
  changes: readonly Sighting[],
  until: FloodUntil,
): Step<boolean> {
  const done = yield;
  const { told, number: known = 0 } = done.open.get('held') ?? {};
  // Without an accepted notice nothing has been held, so the count begins at 0.
  let number = told === undefined ? 0 : known;
  if (number > 0 && done.tally.held === 0) {
    number = await stillWaiting(parts, 'held', done);
    yield* tell(parts, { held: { number } });
  }
  number += changes.length;
  const details = floodDetails(parts.settings, changes, until);
  yield* tell(parts, { held: { number, details } });
  return (yield).open.get('held')?.owes === undefined;
}

/**
 * The numbers of events that wait for ops. They are counted anew if this tick has added none, since
 * ops decide on them.
 */
export async function waitingSeen(
  parts: TickParts,
  done: Done,
): Promise<Pick<Observations, WaitsForOps>> {
  const { held } = done.tally;
  const { undeliverable } = done.delivery;
  const { number: heldBefore = 0 } = done.open.get('held') ?? {};
  const { number: asideBefore = 0 } = done.open.get('undeliverable') ?? {};
  const counted = (name: WaitsForOps) => stillWaiting(parts, name, done);
  return {
    // An event behind a held one belongs to a certification that is counted already.
    held: { number: held > 0 ? Math.max(heldBefore, held) : await counted('held') },
    undeliverable: {
      number: undeliverable > 0 ? asideBefore + undeliverable : await counted('undeliverable'),
    },
  };
}

/**
 * Counts certifications whose events wait for ops. The index lags, so a young condition keeps its
 * number. An item that also owes a delivery is listed under the delivery, so only a look at the
 * items proves that none waits.
 */
async function stillWaiting(
  { ledger, clock }: TickParts,
  name: WaitsForOps,
  { open }: Pick<Done, 'open'>,
): Promise<number> {
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
