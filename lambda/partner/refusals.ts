import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { parseBody } from './api.ts';
import { PartnerError, type RequestKind } from './errors.ts';
import type { HttpReply } from './transport.ts';

/**
 * The error for a status that is no success (partner-api.md, 7, and what it leaves open).
 *
 * @param path of the request: a filter may be what the host does not take
 */
export function toRefusal(
  kind: RequestKind,
  reply: HttpReply,
  now: Temporal.Instant,
  path?: string,
): PartnerError {
  const { status } = reply;
  const what = `status ${status}`;
  if (status < 400) return new PartnerError('invalid-base-url', kind, what);
  const retryAfterMs = parseRetryAfter(reply.headers, now);
  if (status === 429) return new PartnerError('rate-limited', kind, what, { retryAfterMs });
  // 501: the server does not know how to do it, and will not know in a minute.
  if (status === 408 || (status >= 500 && status !== 501))
    return new PartnerError('unavailable', kind, what, { retryAfterMs });
  if (status === 400 && kind === 'token' && errorCode(reply) === 'unsupported_grant_type')
    return new PartnerError('unsupported-grant', kind, what);
  if (status === 400 && kind === 'list' && path !== undefined && !/filter|offset/.test(path))
    return new PartnerError('not-provisioned', kind, what);
  return new PartnerError('request-refused', kind, what);
}

const errorSchema = z.looseObject({ error: z.string() });

/** `error` of the body, if it is one of the form `{error: <code>}`. */
export function errorCode(reply: HttpReply): string | undefined {
  try {
    return errorSchema.safeParse(parseBody('token', reply)).data?.error;
  } catch {
    // A failure may come from a proxy, in HTML: the status says enough then.
    return undefined;
  }
}

/**
 * Milliseconds that a `Retry-After` header asks for (RFC 9110, 10.2.3), or undefined if it is
 * absent or unreadable. A date is held against the server's own `Date` header where there is one,
 * so that a difference between the clocks neither shortens nor lengthens the wait.
 */
export function parseRetryAfter(
  { 'retry-after': retryAfter, date }: HttpReply['headers'],
  now: Temporal.Instant,
): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const until = parseHttpDate(retryAfter);
  return until && Math.max(0, until - (parseHttpDate(date) ?? now.epochMilliseconds));
}

/** The form of RFC 9110, 5.6.7 without a zone: `Sun Nov  6 08:49:37 1994`, in GMT. */
const ASCTIME = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i;

/** Temporal does not read these forms (RFC 9110, 5.6.7); `Date.parse` reads far too many others. */
function parseHttpDate(text = ''): number | undefined {
  const zoned = ASCTIME.test(text) ? `${text} GMT` : text;
  const epochMilliseconds = zoned.endsWith('GMT') ? Date.parse(zoned) : Number.NaN;
  return Number.isNaN(epochMilliseconds) ? undefined : epochMilliseconds;
}
