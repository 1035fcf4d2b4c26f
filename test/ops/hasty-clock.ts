import { Temporal } from 'temporal-polyfill';
import { type Clock, systemClock } from '../../lambda/clock.ts';

/** This machine's time, with sleeps that end at once and move it. */
export class HastyClock implements Clock {
  #aheadMs = 0;

  now(): Temporal.Instant {
    return Temporal.Now.instant().add({ milliseconds: this.#aheadMs });
  }

  monotonicMs(): number {
    return this.now().epochMilliseconds;
  }

  advance(duration: Temporal.DurationLike): void {
    this.#aheadMs += Temporal.Duration.from(duration).total('milliseconds');
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#aheadMs += ms;
    // Others get a turn, also if no other code ever waits.
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  }

  /** The time limit of real connections, as long as on any other clock. */
  after(ms: number, run: () => void): () => void {
    return systemClock.after(ms, run);
  }
}
