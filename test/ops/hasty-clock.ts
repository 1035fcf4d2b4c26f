import { Temporal } from 'temporal-polyfill';
import { type Clock, systemClock } from '../../lambda/clock.ts';

/** The time of this machine, and nobody waits for it: who sleeps is later at once. */
export class HastyClock implements Clock {
  #aheadMs = 0;
  /** What happens while somebody sleeps. */
  meanwhile: () => Promise<unknown> = async () => {};

  now(): Temporal.Instant {
    return Temporal.Now.instant().add({ milliseconds: this.#aheadMs });
  }

  advance(duration: Temporal.DurationLike): void {
    this.#aheadMs += Temporal.Duration.from(duration).total('milliseconds');
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#aheadMs += ms;
    await this.meanwhile();
    // Others have their turn, also where nobody ever waits for anything else.
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  }

  /** Of real connections: those that take long are given up as late as anywhere. */
  after(ms: number, run: () => void): () => void {
    return systemClock.after(ms, run);
  }
}
