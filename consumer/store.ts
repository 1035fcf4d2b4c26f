import type { Temporal } from 'temporal-polyfill';

/** What a worker asks for before it handles an event. */
export interface Claim {
  /** What is handled: an event, or the events of a subject. */
  readonly key: string;
  /** How far it will have been handled: 1 for an event, the `sequence` for a subject. */
  readonly position: number;
  /** Whether what has been handled at just this position may be handled again. */
  readonly again: boolean;
  /** Tells this attempt from all others. */
  readonly owner: string;
  readonly now: Temporal.Instant;
  /** From then on others may take it over. */
  readonly until: Temporal.Instant;
  /** When the key may be forgotten; absent: never. */
  readonly forget?: Temporal.Instant;
}

/**
 * Where workers share what has been handled. What a store must guarantee:
 *
 * - `claim` is atomic: of several claims of one key at once, at most one is granted.
 * - What `settle` has recorded is seen by every later `claim`: strongly consistent, durable.
 * - A request made again by its own owner (a retry after a lost answer) has the answer of the first.
 */
export interface HandledStore {
  /**
   * - `granted`: nobody has handled this position (or, with `again`, a later one) and nobody else
   *   holds a claim that lasts; this one lasts from now on.
   * - `handled`: it has been handled, or a later position has.
   * - `in-hand`: somebody else's claim lasts.
   */
  claim(claim: Claim): Promise<'granted' | 'handled' | 'in-hand'>;
  /**
   * Ends a claim: as `handled`, which records the position, or as `given-up`, which lets others in at once.
   * @returns `false` if the claim had been taken over: then nothing was recorded.
   */
  settle(claim: Claim, outcome: 'handled' | 'given-up'): Promise<boolean>;
}
