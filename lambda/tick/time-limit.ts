import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import { isCutOff } from '../partner/errors.ts';
import type { Lease } from '../ports/state.ts';

/** Kept free for the end of the tick before anything of it has been measured. */
const leastReserveMs = 10_000;
/** The next piece of work may take longer than the longest so far. */
const reserveFactor = 2;
/** Of the time that is left, the part that one read may take: what it saw is to be committed too. */
const readingShare = 0.6;
/** A lease outlives its invocation by a little, so that two never hold it at once. */
const leaseSlackSeconds = 5;

/**
 * When a tick must stop at the next boundary, so that it ends before it is killed.
 *
 * What lies between two boundaries is the commit and delivery of one batch; how long that takes
 * depends on the day. So the longest one of this tick is measured, and twice as much kept free.
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

  /** @param owner of which there is one alone: the invocation's id */
  leaseOf(owner: string): Lease {
    return { owner, until: this.#killedAt.add({ seconds: leaseSlackSeconds }) };
  }

  /** After which nothing more is begun. */
  get deadline(): Temporal.Instant {
    return this.#killedAt.subtract({ milliseconds: this.#reserveMs });
  }

  /** By when a read that begins now should be done. */
  get readingDeadline(): Temporal.Instant {
    const now = this.#clock.now();
    const left = Math.max(0, now.until(this.deadline).total('milliseconds'));
    return now.add({ milliseconds: Math.floor(left * readingShare) });
  }

  /** A question that our own deadline or the pace cuts off is out of time, without an answer yet: nobody has failed, and the next tick asks again. */
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

  /** Work that is not stopped half-way; its duration is what the reserve is measured by. */
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
   * To be asked only where what follows is left undone if it is reached: the tick remembers that it
   * was cut short. Once reached it stays so, since the reserve only grows.
   */
  noteIfReached(): boolean {
    if (this.#clock.now().until(this.deadline).sign <= 0) this.#isCutShort = true;
    return this.#isCutShort;
  }

  /** Whether something was left undone because of it. Asking changes nothing. */
  get wasReached(): boolean {
    return this.#isCutShort;
  }
}
