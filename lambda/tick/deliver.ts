import { digestSchedule, isDigestDue } from '../decisions/digest-schedule.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { Committed } from '../ports/ledger.ts';
import type { LeasedParts, Step } from './parts.ts';
import { deadlineOf } from './time.ts';

/** Delivers events that earlier ticks have left. */
export async function* inherit(at: LeasedParts): Step {
  const { clock, settings, state } = at;
  const { digest, dirtySince } = state;
  const now = clock.now();
  const next = digestSchedule(digest, 'left', now, settings);
  // A tick that died may not have written that a digest is owed.
  const schedule = digest ?? (dirtySince && next);
  const isMailDue = isDigestDue(next, now, settings);
  yield { is: 'digest', isMailDue, schedule };
  if (schedule && isMailDue) yield* takeUp(at, 'digest');
  // After a find, another look follows at a later digest. Looking again at once would let a long
  // outbox fill every tick.
  const { toTell, isStopped, left } = (yield).delivery;
  if (left === 'nothing' && (toTell.length > 0 || isStopped)) yield { is: 'digest', left: 'some' };
  if (dirtySince !== undefined) yield* takeUp(at, 'event');
  yield { is: 'digest', isInherited: true };
}

/**
 * Publishes committed events. An event waits if an earlier one of its certification had to wait.
 *
 * @param unsure certifications with an event that may have been committed although the answer was
 * lost
 */
export async function* deliver(
  at: LeasedParts,
  committed: readonly Committed[],
  unsure: readonly number[],
): Step {
  const { sent, isStopped, waiting: before } = (yield).delivery;
  const waiting = new Set([...before, ...unsure]);
  const free: Committed[] = [];
  for (const one of committed) {
    const { certificationId: id, behind } = one;
    const isNext = behind === undefined || sent.has(id);
    if (isNext && !isStopped && !waiting.has(id)) free.push(one);
    else waiting.add(id);
  }
  yield { is: 'waits', ids: [...waiting], events: committed.length - free.length };
  yield* publish(at, free);
}

/**
 * Sends the digest at the end of the tick: events left by earlier ticks, and those that this tick
 * delivered. An event leaves its outbox when the digest was accepted. So a crash costs a second
 * digest, never a missing one. After a failure the digest may have gone out, so it is tried once.
 */
export async function* tellPeople(at: LeasedParts): Step {
  const { announcer, ledger, clock, settings } = at;
  const { isMailDue, toTell, left, schedule, undelivered } = (yield).delivery;
  if (!isMailDue) return;
  yield { is: 'digest', isMailDue: false };
  const events = toTell.map(({ event }) => event);
  const outcome = events.length > 0 ? await announcer.tellPeople(events) : undefined;
  const isRefused = outcome?.accepted === false;
  if (isRefused) {
    const details = { code: outcome.code, problem: outcome.denial };
    yield { is: 'warned', what: 'digest refused', details };
  } else await ledger.settle(toTell, 'nothing');
  yield {
    is: 'digest',
    toTell: [],
    undelivered: isRefused ? undelivered + toTell.length : undelivered,
    schedule: digestSchedule(schedule, isRefused ? 'more' : left, clock.now(), settings),
  };
}

/**
 * Goes through the outboxes that earlier ticks left, page by page. Publishes pending events, and
 * collects delivered ones for the digest.
 */
async function* takeUp(at: LeasedParts, owing: 'event' | 'digest'): Step {
  const { ledger, clock } = at;
  for await (const { owed, unreadable } of ledger.leftovers(owing)) {
    for (const error of unreadable)
      yield { is: 'warned', what: 'outbox unreadable', details: { error } };
    yield { is: 'listed', owed: owed.filter(({ owes }) => owes === 'digest') };
    const began = clock.now().epochMilliseconds;
    yield* publish(
      at,
      owed.filter(({ owes }) => owes !== 'digest'),
    );
    yield { is: 'took', ms: clock.now().epochMilliseconds - began };
    if (owing === 'event') yield { is: 'waits', ids: [], events: unreadable.length };
    if ((yield { is: 'boundary' }).time.isCutShort) yield { is: 'digest', isStopped: true };
    const { isStopped, left } = (yield).delivery;
    if (isStopped || (owing === 'digest' && left === 'more')) break;
  }
}

/** Settles each batch as soon as SNS accepts it, so a crash repeats only the batches under way. */
async function* publish(at: LeasedParts, owed: readonly OwedEvent[]): Step {
  if (owed.length === 0) return;
  const { announcer, ledger, clock, settings } = at;
  const until = deadlineOf((yield).time);
  const { accepted, refused, stopped, denial } = await announcer.publish(owed, until, (batch) =>
    ledger.settle(batch, 'digest'),
  );
  // One line a code: an outage would log thousands of the same.
  for (const [code, alike] of Map.groupBy(refused, ({ code }) => code)) {
    const [first] = alike;
    const details = { code, events: alike.length, first: first?.owed.event.id };
    // An event that is invalid by itself was not denied.
    yield first?.forGood
      ? { is: 'warned', what: 'event undeliverable', details }
      : { is: 'warned', what: 'event refused', details: { ...details, problem: denial } };
  }
  const forGood = refused.filter((one) => one.forGood);
  const { isMailDue, schedule } = (yield {
    is: 'published',
    accepted,
    refused: refused.filter((one) => !one.forGood).map((one) => one.owed.certificationId),
    isStopped: stopped !== undefined,
  }).delivery;
  if (accepted.length > 0 && !isMailDue)
    yield { is: 'digest', schedule: digestSchedule(schedule, 'left', clock.now(), settings) };
  if (forGood.length > 0) {
    await ledger.park(forGood);
    yield { is: 'parked', number: forGood.length };
  }
}
