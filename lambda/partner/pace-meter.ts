import type { Clock } from '../clock.ts';
import {
  answered,
  isTooSlow,
  opensAt,
  type Pace,
  refused,
  refusedOnce,
  remembered,
  spent,
  unhurried,
} from '../detection/pace.ts';
import type { RequestPace } from '../ports/request-pace.ts';
import { PaceSpentError, type RequestKind } from './errors.ts';

/** Counts what is sent to one host, tokens and second attempts as well. */
export class PaceMeter implements RequestPace {
  readonly #perMinute: number;
  readonly #clock: Clock;
  #pace: Pace = unhurried;

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  resume(pace: Pace = unhurried): void {
    this.#pace = pace;
  }

  /** @throws {PaceSpentError} if it has to wait */
  spend(kind: RequestKind): void {
    const now = this.#now;
    const waitMs = opensAt(this.#pace, this.#perMinute, now) - now;
    if (waitMs > 0) throw new PaceSpentError(kind, waitMs);
    this.#pace = spent(this.#pace, this.#perMinute, now);
  }

  /** What came of a request. */
  answered(status: number): void {
    this.#pace = status === 429 ? refusedOnce(this.#pace, this.#now) : answered(this.#pace);
  }

  /** Asking again did not help. */
  refused(retryAfterMs: number | undefined): void {
    this.#pace = refused(this.#pace, this.#perMinute, this.#now, retryAfterMs);
  }

  remembered(): Pace | undefined {
    return remembered(this.#pace, this.#perMinute, this.#now);
  }

  isTooSlow(): boolean | undefined {
    return isTooSlow(this.#pace, this.#perMinute, this.#now);
  }

  get #now(): number {
    return this.#clock.now().epochMilliseconds;
  }
}
