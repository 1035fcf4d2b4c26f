import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../lambda/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * Virtual time. It moves only while everybody waits: then to the moment at which the first of them
 * has waited enough. So hours pass in microseconds, what is done at the same time takes as long as
 * the longest of it, and the order of things is the same in each run.
 */
export class Timeline implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];

  constructor(start: string) {
    this.#now = Temporal.Instant.from(start).epochMilliseconds;
  }

  now(): Temporal.Instant {
    return Temporal.Instant.fromEpochMilliseconds(this.#now);
  }

  get nowMs(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  after(ms: number, run: () => void): () => void {
    const sleeper = { at: this.#now + Math.max(0, Math.round(ms)), wake: run };
    this.#sleepers.push(sleeper);
    return () => {
      this.#sleepers = this.#sleepers.filter((one) => one !== sleeper);
    };
  }

  /** Lets time pass until the work is done. */
  async until<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    for (;;) {
      // Until nothing is left to do without waiting.
      await new Promise((resolve) => setImmediate(resolve));
      if (isDone) return work;
      const first = this.#sleepers.reduce<Sleeper | undefined>(
        (first, one) => (first !== undefined && first.at <= one.at ? first : one),
        undefined,
      );
      if (first === undefined) throw new Error('everybody waits, for nothing');
      this.#sleepers = this.#sleepers.filter((one) => one !== first);
      this.#now = Math.max(this.#now, first.at);
      first.wake();
    }
  }

  /** Lets time pass; what is still under way goes on meanwhile. */
  pass({ hours = 0, seconds = 0 }: { hours?: number; seconds?: number }): Promise<void> {
    return this.until(this.sleep((hours * 3_600 + seconds) * 1_000));
  }
}
