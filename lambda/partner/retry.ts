import { PartnerError } from './errors.ts';

/** The longest wait after the first failure, in milliseconds; it doubles with each further one. */
const BACKOFF_MS = 500;
/** The limit of that doubling. */
const MAX_BACKOFF_MS = 8_000;

/**
 * When to ask again, with full jitter: at any time between now and the end of the back-off. After
 * `Retry-After` the jitter comes on top, so that no client is early, and not all return in the same
 * instant. A wait for our own pace is exact, and no failure.
 *
 * @param before failures so far, without this one
 * @param most attempts in all, the first included
 * @param random from 0 up to, not including, 1
 * @returns undefined if another attempt does not help, or if the attempts or the time are used up:
 * there is no use in sleeping towards a deadline
 */
export function nextAttempt(
  error: unknown,
  before: number,
  most: number,
  leftMs: number,
  random: () => number,
): { readonly failures: number; readonly waitMs: number } | undefined {
  if (!(error instanceof PartnerError) || !error.retryHelps) return undefined;
  const { code, reach, retryAfterMs = 0 } = error;
  // Such a request was tried twice already.
  if (reach === 'access') return undefined;
  if (code === 'pace-spent')
    return retryAfterMs < leftMs ? { failures: before, waitMs: retryAfterMs } : undefined;
  const failures = before + 1;
  // A host that does not say when to come again has a limit by the second, or refuses for longer.
  // So it is asked once more.
  const isUnbidden = code === 'rate-limited' && error.retryAfterMs === undefined;
  if (failures >= Math.min(most, isUnbidden ? 2 : most)) return undefined;
  const backoff = Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** before);
  const waitMs = Math.ceil(retryAfterMs + random() * backoff);
  return waitMs < leftMs ? { failures, waitMs } : undefined;
}
