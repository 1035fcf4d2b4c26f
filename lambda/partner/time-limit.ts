import type { Clock } from '../clock.ts';

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
