import { type DigestNews, digestSchedule, isDigestDue } from '../decisions/digest-schedule.ts';
import { forDigest } from '../delivery/digest.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { PublishOutcome, Refusal } from '../ports/announcer.ts';
import type { Committed } from '../ports/ledger.ts';
import type { DigestSchedule, State } from '../ports/state.ts';
import type { StepContext, TickParts } from './parts.ts';

/**
 * Limit for one digest: its events must be settled within the same tick. The rest waits for the
 * next tick's digest.
 */
const mostInOneMail = 20_000;

export interface DeliveryTally {
  readonly delivered: number;
  /** Committed, and not accepted by SNS yet: the next tick tries again. */
  readonly undelivered: number;
  /** Refused by SNS for good and set aside for ops. */
  readonly undeliverable: number;
}

/**
 * The events that a tick has taken out of the outboxes under its lease, and those that must wait.
 *
 * A crash between two steps repeats events under the same ids, and never loses one.
 */
export interface DeliveryState extends DeliveryTally {
  /** SNS accepts nothing, or time ran out: owed events wait for the next tick. */
  readonly isStopped: boolean;
  /** Certifications whose events this tick has sent; their outboxes may not say so yet. */
  readonly sent: ReadonlySet<number>;
  /** Certifications with an event that was refused or had to wait in this tick. */
  readonly waiting: ReadonlySet<number>;
  /** The digest goes out at the end of this tick. */
  readonly isMailDue: boolean;
  /** Delivered events that the digest will list. */
  readonly toTell: readonly OwedEvent[];
  /** Whether earlier ticks left events for the digest. `more`: one digest is too small for all. */
  readonly left: Exclude<DigestNews, 'left'>;
  /** When the next digest is due; `undefined`: no event waits for one. */
  readonly schedule: DigestSchedule | undefined;
}

export const nothingDelivered: DeliveryState = {
  delivered: 0,
  undelivered: 0,
  undeliverable: 0,
  isStopped: false,
  sent: new Set(),
  waiting: new Set(),
  isMailDue: false,
  toTell: [],
  left: 'nothing',
  schedule: undefined,
};

/** Delivers events that earlier ticks have left, by the state from before this tick's lease. */
export async function inherit(
  context: StepContext,
  { digest, dirtySince }: State,
): Promise<DeliveryState> {
  const { clock, settings } = context.parts;
  const now = clock.now();
  const next = digestSchedule(digest, 'left', now, settings);
  // A tick that died may not have written that a digest is owed.
  const schedule = digest ?? (dirtySince && next);
  const isMailDue = isDigestDue(next, now, settings);
  const before = { ...nothingDelivered, isMailDue, schedule };
  const collected = schedule && isMailDue ? await takeUp(context, before, 'digest') : before;
  // After a find, another look follows at a later digest. Looking again at once would let a long
  // outbox fill every tick.
  const isSome = collected.toTell.length > 0 || collected.isStopped;
  const left = collected.left === 'nothing' && isSome ? 'some' : collected.left;
  if (dirtySince === undefined) return { ...collected, left };
  return takeUp(context, { ...collected, left }, 'event');
}

/**
 * Publishes committed events. An event waits if an earlier one of its certification had to wait.
 *
 * @param unsure certifications with an event that may have been committed although the answer was
 * lost
 */
export async function deliver(
  context: StepContext,
  delivery: DeliveryState,
  committed: readonly Committed[],
  unsure: readonly number[],
): Promise<DeliveryState> {
  const waiting = new Set([...delivery.waiting, ...unsure]);
  const free = committed.filter(({ certificationId, behind }) => {
    const isNext = behind === undefined || delivery.sent.has(certificationId);
    const isFree = isNext && !delivery.isStopped && !waiting.has(certificationId);
    if (!isFree) waiting.add(certificationId);
    return isFree;
  });
  const undelivered = delivery.undelivered + committed.length - free.length;
  return publish(context, { ...delivery, waiting, undelivered }, free);
}

/**
 * Sends the digest at the end of the tick: events left by earlier ticks, and those that this tick
 * delivered. An event leaves its outbox when the digest was accepted. So a crash costs a second
 * digest, never a missing one.
 *
 * After a failure this must not be called again: the digest may have gone out.
 */
export async function tellPeople(
  { announcer, ledger, journal, clock, settings }: TickParts,
  delivery: DeliveryState,
): Promise<DeliveryState> {
  const { isMailDue, toTell, left, schedule, undelivered } = delivery;
  if (!isMailDue) return delivery;
  const events = toTell.map(({ event }) => event);
  const outcome = events.length > 0 ? await announcer.tellPeople(events) : undefined;
  const isRefused = outcome?.accepted === false;
  if (isRefused) journal.warn('digest refused', { code: outcome.code, problem: outcome.denial });
  else await ledger.settle(toTell, 'nothing');
  return {
    ...delivery,
    isMailDue: false,
    toTell: [],
    undelivered: isRefused ? undelivered + toTell.length : undelivered,
    schedule: digestSchedule(schedule, isRefused ? 'more' : left, clock.now(), settings),
  };
}

/**
 * Goes through the outboxes that earlier ticks left, page by page. Publishes pending events, and
 * collects delivered ones for the digest.
 */
async function takeUp(
  context: StepContext,
  before: DeliveryState,
  owing: 'event' | 'digest',
): Promise<DeliveryState> {
  const { parts, limit } = context;
  let delivery = before;
  for await (const { owed, unreadable } of parts.ledger.leftovers(owing)) {
    for (const error of unreadable) parts.journal.warn('outbox unreadable', { error });
    const isPublished = ({ owes }: OwedEvent) => owes === 'digest';
    const pending = owed.filter((one) => !isPublished(one));
    const noted = telling(delivery, owed.filter(isPublished));
    delivery = await limit.between(() => publish(context, noted, pending));
    if (owing === 'event')
      delivery = { ...delivery, undelivered: delivery.undelivered + unreadable.length };
    if (limit.noteIfReached()) delivery = { ...delivery, isStopped: true };
    if (delivery.isStopped || (owing === 'digest' && delivery.left === 'more')) break;
  }
  return delivery;
}

/** Settles each batch as soon as SNS accepts it, so a crash repeats only the batches under way. */
async function publish(
  context: StepContext,
  delivery: DeliveryState,
  owed: readonly OwedEvent[],
): Promise<DeliveryState> {
  if (owed.length === 0) return delivery;
  const { parts, limit } = context;
  const { announcer, ledger, clock, settings } = parts;
  const { accepted, refused, stopped, denial } = await announcer.publish(
    owed,
    limit.deadline,
    (batch) => ledger.settle(batch, 'digest'),
  );
  if (refused.length > 0) await setAside(parts, refused, denial);
  const forNow = refused.filter((one) => !one.forGood).map((one) => one.owed.certificationId);
  const published = {
    ...delivery,
    delivered: delivery.delivered + accepted.length,
    undelivered: delivery.undelivered + forNow.length,
    undeliverable: delivery.undeliverable + refused.length - forNow.length,
    isStopped: delivery.isStopped || stopped !== undefined,
    sent: new Set([...delivery.sent, ...accepted.map((one) => one.certificationId)]),
    waiting: new Set([...delivery.waiting, ...forNow]),
  };
  if (delivery.isMailDue || accepted.length === 0) return telling(published, accepted);
  const schedule = digestSchedule(delivery.schedule, 'left', clock.now(), settings);
  return { ...published, schedule };
}

/**
 * Adds events to this tick's digest while it has room, reduced to the fields that the digest shows.
 */
function telling(delivery: DeliveryState, owed: readonly OwedEvent[]): DeliveryState {
  const { isMailDue, toTell } = delivery;
  if (!isMailDue) return delivery;
  const taken = owed.slice(0, mostInOneMail - toTell.length);
  const more = taken.map((one) => ({ ...one, event: forDigest(one.event) }));
  const isFull = toTell.length + taken.length === mostInOneMail;
  const left = isFull ? 'more' : delivery.left;
  return { ...delivery, left, toTell: [...toTell, ...more] };
}

async function setAside(
  { ledger, journal }: TickParts,
  refused: readonly Refusal[],
  problem: PublishOutcome['denial'],
): Promise<void> {
  // One line a code: an outage would log thousands of the same.
  for (const [code, alike] of Map.groupBy(refused, ({ code }) => code)) {
    const [first] = alike;
    const details = { code, events: alike.length, first: first?.owed.event.id };
    // An event that is invalid by itself was not denied.
    if (first?.forGood) journal.warn('event undeliverable', details);
    else journal.warn('event refused', { ...details, problem });
  }
  const forGood = refused.filter((one) => one.forGood);
  if (forGood.length > 0) await ledger.park(forGood);
}
