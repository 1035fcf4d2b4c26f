import { Temporal } from 'temporal-polyfill';

/** The one source of time. Injected everywhere, so that no test waits and no core reads a clock. */
export interface Clock {
  now(): Temporal.Instant;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once, after `ms` milliseconds, unless what it returns has been called before. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Temporal.Now.instant(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const wake = () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', stop, { once: true });
    }),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
