import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';

/** When a tick must stop at the next boundary, so that it ends before it is killed. */
export class TimeLimit {
  readonly deadline: Temporal.Instant;
  readonly #clock: Clock;
  #reached = false;

  constructor(deadline: Temporal.Instant, clock: Clock) {
    this.deadline = deadline;
    this.#clock = clock;
  }

  /** The instant at which this share of the time that is left will be over. */
  share(part: number): Temporal.Instant {
    const left = Math.max(0, this.deadline.since(this.#clock.now()).total('milliseconds'));
    return this.#clock.now().add({ milliseconds: Math.floor(left * part) });
  }

  /** Once it was found to be reached, it stays so. */
  get reached(): boolean {
    this.#reached ||= this.#clock.now().epochMilliseconds >= this.deadline.epochMilliseconds;
    return this.#reached;
  }

  /** Whether something was left undone because of it. */
  get wasReached(): boolean {
    return this.#reached;
  }
}
