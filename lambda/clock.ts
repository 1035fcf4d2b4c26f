import { setTimeout } from 'node:timers/promises';
import { Temporal } from 'temporal-polyfill';

/** The one source of time. Injected everywhere, so that no test waits and no core reads a clock. */
export interface Clock {
  now(): Temporal.Instant;
  /** Milliseconds since some moment. Unlike `now`, it is never set. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `run` once, after `ms` milliseconds.
   * @returns cancels the call
   */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Temporal.Now.instant(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await setTimeout(ms, undefined, { signal });
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
  after: (ms, run) => {
    const timer = globalThis.setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
