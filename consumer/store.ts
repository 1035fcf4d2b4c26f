import type { Temporal } from 'temporal-polyfill';

/** A worker's request before it handles an event. */
export interface Claim {
  /** An event, or the events of a subject. */
  readonly key: string;
  /** How far it will have been handled: 1 for an event, the `sequence` for a subject. */
  readonly position: number;
  /** Whether an event of just this position may be handled again. */
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
 * The memory of handled events that workers share. A store must guarantee:
 *
 * - `claim` is atomic: of several claims of one key at once, at most one is granted.
 * - Every later `claim` sees a record of `settle`: strongly consistent, durable.
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
