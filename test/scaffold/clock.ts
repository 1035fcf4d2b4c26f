import { setImmediate as nextTurn } from 'node:timers/promises';
import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../lambda/clock.ts';

interface Timer {
  readonly at: Temporal.Instant;
  readonly run: () => void;
}

/**
 * A clock that stands still until it is moved. A sleep moves it, and so also fires the time limits
 * of other callers. Real sockets do not move it: give their client the system clock's `after`, or
 * it waits for a silent host for ever.
 */
export class ManualClock implements Clock {
  #now: Temporal.Instant;
  readonly #timers = new Set<Timer>();

  constructor(start = '2026-11-21T08:00:00Z') {
    this.#now = Temporal.Instant.from(start);
  }

  now(): Temporal.Instant {
    return this.#now;
  }

  monotonicMs(): number {
    return this.#now.epochMilliseconds;
  }

  /** Timers that fall due on the way fire at their own time. */
  advance(duration: Temporal.DurationLike): void {
    const end = this.#now.add(duration);
    for (let timer = this.#due(end); timer; timer = this.#due(end)) this.#fire(timer);
    this.#now = later(this.#now, end);
  }

  /** Timers that fall due on the way fire at their own time. One of them may abort the sleep. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const end = this.#now.add({ milliseconds: ms });
    for (let timer = this.#due(end); timer; timer = this.#due(end)) {
      this.#fire(timer);
      // Code that awaited the timer runs before time goes on.
      await nextTurn();
      signal?.throwIfAborted();
    }
    this.#now = later(this.#now, end);
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now.add({ milliseconds: Math.ceil(ms) }), run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#now = later(this.#now, timer.at);
    timer.run();
  }

  /** The first timer up to the end; among several of one time, the one that was set first. */
  #due(end: Temporal.Instant): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers)
      if (
        Temporal.Instant.compare(timer.at, end) <= 0 &&
        (first === undefined || Temporal.Instant.compare(timer.at, first.at) < 0)
      )
        first = timer;
    return first;
  }
}

function later(one: Temporal.Instant, other: Temporal.Instant): Temporal.Instant {
  return Temporal.Instant.compare(one, other) < 0 ? other : one;
}
