import { randomUUID } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import { type Clock, systemClock } from '../lambda/clock.ts';
import { ClaimLostError, InHandError } from './errors.ts';
import type { ReceivedEvent } from './parse-event.ts';
import type { Claim, HandledStore } from './store.ts';

export interface HandlingOptions {
  /**
   * How long a handler may take. After a worker dies, its event is handled again after this time at
   * the latest. Default: five minutes. It must be shorter than the queue's visibility timeout times
   * one receive less than the queue allows. Otherwise such an event ends up among the dead letters.
   */
  readonly claimFor?: Temporal.DurationLike;
  /**
   * How to treat a replay (`data.replay`) of an event that has been handled already. `skip`, the
   * default, is for subscribers who did not ask for it. `handle` is for those who did, because they
   * have lost the results. It then handles at least once, and still never an older event than the
   * last handled one.
   */
  readonly replays?: 'skip' | 'handle';
  readonly clock?: Pick<Clock, 'now'>;
}

export interface OnlyOnceOptions extends HandlingOptions {
  /**
   * How long an event is remembered (hours and smaller units). Default: for ever. An event that
   * comes again after that is handled again, and a replay may come years later.
   */
  readonly remember?: Temporal.DurationLike;
}

/** Hands the event to the handler, unless it was handled before. */
export type Handling<Skipped extends string> = <Event extends ReceivedEvent>(
  event: Event,
  handler: (event: Event) => Promise<unknown>,
) => Promise<'handled' | Skipped>;

/**
 * Each event is handled to its end once, by its id.
 *
 * "Handled" means that the handler has resolved. No library can do more: a worker may die after its
 * handler has acted and before that is recorded. The event is then handled again. So the effects of
 * a handler should be safe to repeat where that matters (pass `event.id` on to the systems that it
 * calls).
 *
 * The result throws the handler's error, after which the event may be tried again at once. It
 * throws InHandError if another worker has the event in hand (leave the message in the queue). It
 * throws ClaimLostError if the handler took longer than `claimFor` and another worker has begun,
 * and StoreUnavailableError.
 */
export function onlyOnce(
  store: HandledStore,
  options: OnlyOnceOptions = {},
): Handling<'duplicate'> {
  const { remember } = options;
  return async (event, handler) => {
    const work = { key: `event ${event.id}`, position: 1, ...(remember && { remember }) };
    return (await handled(store, work, event, handler, options)) ? 'handled' : 'duplicate';
  };
}

/**
 * Of each assessment, only events that are newer than the last handled one are handled, by
 * `sequence`. It is for a subscriber that keeps the current state. One that must see each event
 * wants `onlyOnce`. Duplicates are outdated, too. The events of one assessment are handled one at a
 * time.
 *
 * Its memory, one item an assessment, never ends: old events would be new again. It throws the
 * errors of `onlyOnce`.
 */
export function inOrder(store: HandledStore, options: HandlingOptions = {}): Handling<'outdated'> {
  return async (event, handler) => {
    const key = `subject ${event.source} ${event.subject}`;
    const work = { key, position: Number(event.sequence) };
    return (await handled(store, work, event, handler, options)) ? 'handled' : 'outdated';
  };
}

/** Shorter than the default visibility timeout of the stack's queues times their receives. */
export const defaultClaim = { minutes: 5 } as const;

interface Work {
  readonly key: string;
  readonly position: number;
  readonly remember?: Temporal.DurationLike;
}

async function handled<Event extends ReceivedEvent>(
  store: HandledStore,
  { remember, ...work }: Work,
  event: Event,
  handler: (event: Event) => Promise<unknown>,
  { claimFor = defaultClaim, replays = 'skip', clock = systemClock }: HandlingOptions,
): Promise<boolean> {
  const now = clock.now();
  const claim: Claim = {
    ...work,
    again: replays === 'handle' && isReplay(event),
    owner: randomUUID(),
    now,
    until: now.add(claimFor),
    ...(remember && { forget: now.add(remember) }),
  };
  const answer = await store.claim(claim);
  if (answer === 'in-hand') throw new InHandError();
  if (answer === 'handled') return false;
  try {
    await handler(event);
  } catch (error) {
    // If this fails too, the claim runs out by itself. The error of the handler is the one that
    // matters.
    await store.settle(claim, 'given-up').catch(() => undefined);
    throw error;
  }
  if (!(await store.settle(claim, 'handled'))) throw new ClaimLostError();
  return true;
}

function isReplay(event: ReceivedEvent): boolean {
  return event.type !== 'unknown' && event.data.replay === true;
}
