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
export async function withRetries<T>(
  once: (attempt: number) => Promise<T>,
  context: RetryContext,
): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await once(failures + 1);
    } catch (error) {
      if (!(error instanceof PartnerError)) throw error;
      if (error.wasSent) failures += 1;
      const waitMs = waitAfter(error, failures, context);
      const left = context.deadline.epochMilliseconds - context.clock.now().epochMilliseconds;
      if (waitMs >= left) throw error;
      await context.clock.sleep(waitMs, context.signal);
    }
  }
}

/** A host that does not say when to come again has a limit for the second, or has had enough. */
const attemptsAtOnce = 2;

function attemptsAfter({ reach, retryAfterMs }: PartnerError, { attempts }: RetryPolicy): number {
  const isUnbidden = reach === 'pace' && retryAfterMs === undefined;
  return isUnbidden ? Math.min(attempts, attemptsAtOnce) : attempts;
}

/**
 * Full jitter: anything between nothing and the back-off. After `Retry-After` the jitter comes on
 * top, so that nobody is early and not everybody returns in the same instant. Our own pace is exact.
 *
 * @returns milliseconds; infinite where to ask again is of no use
 */
function waitAfter(error: PartnerError, failures: number, context: RetryContext): number {
  const { retryHelps, wasSent, retryAfterMs = 0 } = error;
  if (!retryHelps || failures >= attemptsAfter(error, context)) return Number.POSITIVE_INFINITY;
  if (!wasSent) return retryAfterMs;
  const backoff = Math.min(context.maxBackoffMs, context.backoffMs * 2 ** (failures - 1));
  return Math.ceil(retryAfterMs + context.random() * backoff);
}

/**
 * Milliseconds that a `Retry-After` header asks for (RFC 9110, 10.2.3), or undefined if it is
 * absent or unreadable. A date is held against the server's own `Date` header where there is one,
 * so that a difference between the clocks neither shortens nor lengthens the wait.
 */
export function parseRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  now: Temporal.Instant,
): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const until = parseHttpDate(retryAfter);
  if (until === undefined) return undefined;
  const from = date === undefined ? undefined : parseHttpDate(date);
  return Math.max(0, until - (from ?? now.epochMilliseconds));
}

/** The form of RFC 9110, 5.6.7 without a zone: `Sun Nov  6 08:49:37 1994`, in GMT. */
const ASCTIME = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i;

/** Temporal does not read these forms (RFC 9110, 5.6.7); `Date.parse` reads far too many others. */
export function parseHttpDate(text: string): number | undefined {
  const zoned = ASCTIME.test(text) ? `${text} GMT` : text;
  const epochMilliseconds = zoned.endsWith('GMT') ? Date.parse(zoned) : Number.NaN;
  return Number.isNaN(epochMilliseconds) ? undefined : epochMilliseconds;
}
