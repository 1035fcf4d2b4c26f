import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../lambda/clock.ts';

/** A clock that stands still until it is moved; to sleep is to move it. */
export class ManualClock implements Clock {
  #now: Temporal.Instant;

  constructor(start = '2026-11-21T08:00:00Z') {
    this.#now = Temporal.Instant.from(start);
  }

  now(): Temporal.Instant {
    return this.#now;
  }

  advance(duration: Temporal.DurationLike): void {
    this.#now = this.#now.add(duration);
  }

  async sleep(ms: number): Promise<void> {
    this.advance({ milliseconds: ms });
  }
}
