import { forDigest } from '../delivery/digest.ts';
import { type DigestNews, digestSchedule, isDigestDue } from '../detection/digest-schedule.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { PublishOutcome, Refusal } from '../ports/announcer.ts';
import type { Committed } from '../ports/ledger.ts';
import type { DigestSchedule, State } from '../ports/state.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

/** The most that one mail tells of: what it told of is settled within the same tick. */
const mostInOneMail = 20_000;

export interface DeliveryTally {
  readonly delivered: number;
  /** Committed, and not accepted by SNS yet: the next tick tries again. */
  readonly undelivered: number;
  /** Refused by SNS for good and set aside for ops. */
  readonly undeliverable: number;
}

/**
 * What a tick that holds the lease has taken out of the outboxes, and what has to wait.
 *
 * A crash between any two steps tells somebody twice, with the same ids, and nobody never.
 */
export interface DeliveryState extends DeliveryTally {
  /** SNS takes nothing, or time ran out: what is owed waits for the next tick. */
  readonly isStopped: boolean;
  /** Certifications whose events this tick has sent; their outboxes may not say so yet. */
  readonly sent: ReadonlySet<number>;
  /** Certifications of which an event was refused or had to wait in this tick. */
  readonly waiting: ReadonlySet<number>;
  /** The people's mail goes out at the end of this tick. */
  readonly isMailDue: boolean;
  /** What subscribers have and the mail will tell of. */
  readonly toTell: readonly OwedEvent[];
  /** What earlier ticks had left to wait for a mail, and whether SNS has refused one. */
  readonly left: Exclude<DigestNews, 'left'>;
  /** When the next mail is due; `undefined`: nobody waits for one. */
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

/** What a delivery works with. */
interface Delivering {
  readonly parts: TickParts;
  readonly limit: TimeLimit;
}

/** Delivers what earlier ticks have left, as the state was when this one took the lease. */
export async function inherit(
  context: Delivering,
  { digest, dirtySince }: State,
): Promise<DeliveryState> {
  const { clock, settings } = context.parts;
  const now = clock.now();
  const next = digestSchedule(digest, 'left', now, settings);
  // A tick that died may not have come to write that a mail is owed.
  const schedule = digest ?? (dirtySince && next);
  const isMailDue = isDigestDue(next, now, settings);
  const before = { ...nothingDelivered, isMailDue, schedule };
  const collected = schedule && isMailDue ? await collect(context, before) : before;
  return dirtySince === undefined ? collected : deliverLeftovers(context, collected);
}

/** An event of it may have been committed, and the answer lost: what comes after that waits for the next tick. */
export function leave(delivery: DeliveryState, certificationId: number): DeliveryState {
  return { ...delivery, waiting: new Set([...delivery.waiting, certificationId]) };
}

/** What comes after something that had to stay behind stays behind it. */
export async function deliver(
  context: Delivering,
  delivery: DeliveryState,
  committed: readonly Committed[],
): Promise<DeliveryState> {
  const waiting = new Set(delivery.waiting);
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
 * The people's mail, at the end of the tick: what was left to wait, and what this tick has delivered.
 *
 * Whoever has begun this does not begin it again when it fails: the mail may have gone out.
 */
export async function tellPeople(
  parts: TickParts,
  delivery: DeliveryState,
): Promise<DeliveryState> {
  if (!delivery.isMailDue) return delivery;
  const told = await mail(parts, delivery);
  return { ...planning(parts, told, told.left), isMailDue: false };
}

/** Collects for the mail what earlier ticks have left to wait for it. */
async function collect(
  { parts: { ledger, journal }, limit }: Delivering,
  delivery: DeliveryState,
): Promise<DeliveryState> {
  let collected = delivery;
  for await (const { owed, unreadable } of ledger.leftovers('digest')) {
    for (const error of unreadable) journal.warn('outbox unreadable', { error });
    collected = telling(collected, owed.filter(isPublished));
    if (collected.toTell.length >= mostInOneMail) return { ...collected, left: 'more' };
    if (collected.toTell.length > 0) collected = { ...collected, left: 'some' };
    // The next look goes on; it is not made at once, or a long outbox would take all of every tick.
    if (limit.noteIfReached()) return { ...collected, left: 'some' };
  }
  return collected;
}

async function deliverLeftovers(
  context: Delivering,
  before: DeliveryState,
): Promise<DeliveryState> {
  const { parts, limit } = context;
  let delivery = before;
  for await (const { owed, unreadable } of parts.ledger.leftovers('event')) {
    for (const error of unreadable) parts.journal.warn('outbox unreadable', { error });
    const page = { ...delivery, undelivered: delivery.undelivered + unreadable.length };
    const pending = owed.filter((one) => !isPublished(one));
    const noted = page.isMailDue ? telling(page, owed.filter(isPublished)) : page;
    delivery = await limit.between(() => publish(context, noted, pending));
    if (limit.noteIfReached()) delivery = { ...delivery, isStopped: true };
    if (delivery.isStopped) break;
  }
  return delivery;
}

const isPublished = ({ owes }: OwedEvent) => owes === 'digest';

/** Publishes events and settles each batch as soon as it was accepted: a death repeats what is under way. */
async function publish(
  context: Delivering,
  delivery: DeliveryState,
  owed: readonly OwedEvent[],
): Promise<DeliveryState> {
  if (owed.length === 0) return delivery;
  const { parts, limit } = context;
  const { announcer, ledger } = parts;
  const outcome = await announcer.publish(owed, limit.deadline, (batch) =>
    ledger.settle(batch, 'digest'),
  );
  if (outcome.refused.length > 0) await setAside(parts, outcome.refused);
  const published = afterPublishing(delivery, outcome);
  if (outcome.accepted.length === 0) return published;
  if (!delivery.isMailDue) return planning(parts, published, 'left');
  const told = telling(published, outcome.accepted);
  return told.toTell.length < mostInOneMail ? told : mail(parts, told);
}

function afterPublishing(
  delivery: DeliveryState,
  { accepted, refused, stopped }: PublishOutcome,
): DeliveryState {
  const forNow = refused.filter((one) => !one.forGood).map(({ owed }) => owed.certificationId);
  return {
    ...delivery,
    delivered: delivery.delivered + accepted.length,
    undelivered: delivery.undelivered + forNow.length,
    undeliverable: delivery.undeliverable + refused.length - forNow.length,
    isStopped: delivery.isStopped || stopped !== undefined,
    sent: new Set([...delivery.sent, ...accepted.map((owed) => owed.certificationId)]),
    waiting: new Set([...delivery.waiting, ...forNow]),
  };
}

/** What the mail will tell of, too; of each event no more than it shows. */
function telling(delivery: DeliveryState, owed: readonly OwedEvent[]): DeliveryState {
  const more = owed.map((one) => ({ ...one, event: forDigest(one.event) }));
  return { ...delivery, toTell: [...delivery.toTell, ...more] };
}

/** An event leaves its outbox when the mail that tells of it was accepted: a crash costs a second mail, never a missing one. */
async function mail(
  { announcer, ledger, journal }: TickParts,
  delivery: DeliveryState,
): Promise<DeliveryState> {
  const { toTell, undelivered } = delivery;
  if (toTell.length === 0) return delivery;
  const outcome = await announcer.tellPeople(toTell.map(({ event }) => event));
  if (outcome.accepted) {
    await ledger.settle(toTell, 'nothing');
    return { ...delivery, toTell: [] };
  }
  journal.warn('digest refused', { code: outcome.code });
  return { ...delivery, toTell: [], undelivered: undelivered + toTell.length, left: 'refused' };
}

function planning(
  { clock, settings }: TickParts,
  delivery: DeliveryState,
  news: DigestNews,
): DeliveryState {
  return {
    ...delivery,
    schedule: digestSchedule(delivery.schedule, news, clock.now(), settings),
  };
}

async function setAside(
  { ledger, journal }: TickParts,
  refused: readonly Refusal[],
): Promise<void> {
  // A line for each code: an outage would have thousands of the same.
  for (const [code, alike] of Map.groupBy(refused, ({ code }) => code)) {
    const [first] = alike;
    const details = { code, events: alike.length, first: first?.owed.event.id };
    journal.warn(first?.forGood ? 'event undeliverable' : 'event refused', details);
  }
  const forGood = refused.filter((one) => one.forGood);
  if (forGood.length > 0) await ledger.park(forGood);
}
