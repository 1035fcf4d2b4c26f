import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import { PartnerError } from './errors.ts';

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly attempts: number;
  /** The longest wait after the first failure, in milliseconds; it doubles with each further one. */
  readonly backoffMs: number;
  /** What it doubles up to, in milliseconds. */
  readonly maxBackoffMs: number;
}

export interface RetryContext extends RetryPolicy {
  readonly deadline: Temporal.Instant;
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `once` until it succeeds, fails in a way that asking again does not help, or the attempts
 * or the time are used up. Then the error is the last attempt's own, thrown at once: there is no
 * use in sleeping towards a deadline.
 */
export async function withRetries<T>(once: () => Promise<T>, context: RetryContext): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof PartnerError)) throw error;
      if (error.code !== 'pace-spent') failures += 1;
      const waitMs = waitAfter(error, failures, context);
      const left = context.deadline.epochMilliseconds - context.clock.now().epochMilliseconds;
      if (waitMs >= left) throw error;
      await context.clock.sleep(waitMs, context.signal);
    }
  }
}

/**
 * Full jitter: anything between nothing and the back-off. After `Retry-After` the jitter comes on
 * top, so that nobody is early and not everybody returns in the same instant. Our own pace is exact.
 *
 * @returns milliseconds; infinite where to ask again is of no use
 */
function waitAfter(error: PartnerError, failures: number, context: RetryContext): number {
  const { code, retryHelps, retryAfterMs } = error;
  if (!retryHelps) return Number.POSITIVE_INFINITY;
  if (code === 'pace-spent') return retryAfterMs ?? 0;
  // A host that does not say when to come again has a limit for the second, or has had enough.
  const isUnbidden = code === 'rate-limited' && retryAfterMs === undefined;
  const attempts = isUnbidden ? Math.min(2, context.attempts) : context.attempts;
  if (failures >= attempts) return Number.POSITIVE_INFINITY;
  const backoff = Math.min(context.maxBackoffMs, context.backoffMs * 2 ** (failures - 1));
  return Math.ceil((retryAfterMs ?? 0) + context.random() * backoff);
}

/**
 * Runs `work` for at most `ms`, and while the caller's signal allows: then rejects at once, with
 * the error of `onTimeout` or the signal's reason, whether or not the work heeds its own signal.
 */
export async function withTimeLimit<T>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  onTimeout: () => Error,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  if (ms <= 0) throw onTimeout();
  // Not AbortSignal.any: Node keeps what it makes, with all that listens, as long as nothing aborts it.
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const controller = new AbortController();
  const stop = (reason: unknown) => {
    controller.abort(reason);
    reject(reason);
  };
  const onAbort = () => stop(signal?.reason);
  const cancel = clock.after(ms, () => stop(onTimeout()));
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    work(controller.signal).then(resolve, reject);
    return await promise;
  } finally {
    cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}
