import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import { isCutOff } from '../partner/errors.ts';
import type { Lease } from '../ports/state.ts';

/** The reserve for the end of the tick, until a batch has been measured. */
const leastReserveMs = 10_000;
/** The next piece of work may take longer than the longest so far. */
const reserveFactor = 2;
/**
 * The share of the remaining time that one read may take; the rest is for committing its findings.
 */
const readingShare = 0.6;
/** A lease slightly outlives its invocation, so that two ticks never hold it at once. */
const leaseSlackSeconds = 5;

/**
 * Says when a tick must stop at the next boundary, so that it ends before it is killed.
 *
 * Between two boundaries lie the commit and delivery of one batch, which take longer on some days
 * than on others. So the longest one of this tick is measured, and twice as much time is reserved.
 */
export class TimeLimit {
  readonly #killedAt: Temporal.Instant;
  readonly #clock: Clock;
  #reserveMs = leastReserveMs;
  #isCutShort = false;

  constructor(killedAt: Temporal.Instant, clock: Clock) {
    this.#killedAt = killedAt;
    this.#clock = clock;
  }

  /** @param owner unique: the invocation's id */
  leaseOf(owner: string): Lease {
    return { owner, until: this.#killedAt.add({ seconds: leaseSlackSeconds }) };
  }

  /** After this time nothing more is begun. */
  get deadline(): Temporal.Instant {
    return this.#killedAt.subtract({ milliseconds: this.#reserveMs });
  }

  /** A read that begins now should end by this time. */
  get readingDeadline(): Temporal.Instant {
    const now = this.#clock.now();
    const left = Math.max(0, now.until(this.deadline).total('milliseconds'));
    return now.add({ milliseconds: Math.floor(left * readingShare) });
  }

  /**
   * @returns 'out-of-time' if our deadline or the pace cuts the question off: nobody has failed,
   * and the next tick asks again
   */
  async ask<Answer>(
    question: (deadline: Temporal.Instant) => Promise<Answer>,
  ): Promise<Answer | 'out-of-time'> {
    try {
      return await question(this.deadline);
    } catch (error) {
      if (isCutOff(error)) return 'out-of-time';
      throw error;
    }
  }

  /** Runs work that must not stop half-way. Its duration sets the reserve. */
  async between<Result>(work: () => Promise<Result>): Promise<Result> {
    const began = this.#clock.now();
    try {
      return await work();
    } finally {
      const tookMs = this.#clock.now().since(began).total('milliseconds');
      this.#reserveMs = Math.max(this.#reserveMs, Math.ceil(tookMs * reserveFactor));
    }
  }

  /**
   * Call this only where the following work is left undone once the limit is reached: the tick
   * remembers that it was cut short. Once reached it stays so, since the reserve only grows.
   */
  noteIfReached(): boolean {
    if (this.#clock.now().until(this.deadline).sign <= 0) this.#isCutShort = true;
    return this.#isCutShort;
  }

  /** Whether work was left undone because of the limit. Asking changes nothing. */
  get wasReached(): boolean {
    return this.#isCutShort;
  }
}
