import { setImmediate as nextTurn } from 'node:timers/promises';
import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../lambda/clock.ts';

interface Timer {
  readonly at: Temporal.Instant;
  readonly run: () => void;
}

/**
 * A clock that stands still until it is moved; to sleep is to move it. One caller's sleep also brings the time
 * limits of others. Over real sockets nothing moves it: give the client the system clock's `after` there, or it
 * waits for a silent host without end.
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

  /** What falls due on the way happens at its own time. */
  advance(duration: Temporal.DurationLike): void {
    const end = this.#now.add(duration);
    for (let timer = this.#due(end); timer; timer = this.#due(end)) this.#fire(timer);
    this.#now = later(this.#now, end);
  }

  /** What falls due on the way happens at its own time, and may abort the sleep there. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const end = this.#now.add({ milliseconds: ms });
    for (let timer = this.#due(end); timer; timer = this.#due(end)) {
      this.#fire(timer);
      // Whoever was waiting for it has a turn before time goes on.
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

  /** The first timer up to then; of several at one time, the one that was set first. */
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
