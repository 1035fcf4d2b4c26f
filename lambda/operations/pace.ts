import type { Clock } from '../clock.ts';

/** Spreads what is sent over time: so many a second on average, from the first on. */
export class Pace {
  readonly #perSecond: number;
  readonly #clock: Clock;
  #freeAt = 0;

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** Waits until so many may be sent. */
  async take(many: number): Promise<void> {
    const now = this.#clock.now().epochMilliseconds;
    const waitMs = this.#freeAt - now;
    this.#freeAt = Math.max(now, this.#freeAt) + (many * 1_000) / this.#perSecond;
    if (waitMs > 0) await this.#clock.sleep(Math.ceil(waitMs));
  }
}
