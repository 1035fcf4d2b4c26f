import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import {
  NotProvisionedError,
  type PartnerError,
  RateLimitedError,
  RedirectRefusedError,
  type RequestKind,
  RequestRefusedError,
  ResponseTooLargeError,
  UnavailableError,
  UnexpectedResponseError,
  UnsupportedGrantError,
} from './errors.ts';
import { parseRetryAfter } from './retry.ts';
import type { HttpReply } from './transport.ts';

/**
 * A hundred records with forty parts each. What `JSON.parse` and validation cost depends on the
 * number of values, not of bytes: four megabytes of one-letter keys held the event loop for more
 * than a second, four megabytes of text for a few milliseconds.
 */
const MAX_VALUES = 25_000;

/**
 * The body of a success, as JSON.
 *
 * The errors have no cause: the parser's own quotes what it could not read.
 *
 * @throws {UnexpectedResponseError}
 * @throws {ResponseTooLargeError}
 */
export function parseBody(kind: RequestKind, reply: HttpReply): unknown {
  const encoding = reply.header('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new UnexpectedResponseError(kind, ['compressed, although identity was asked for']);
  }
  if (mayHoldMoreThan(MAX_VALUES, reply.body)) {
    throw new ResponseTooLargeError(kind, `${MAX_VALUES} values`);
  }
  let text: string;
  try {
    text = utf8.decode(reply.body);
  } catch {
    throw new UnexpectedResponseError(kind, ['not UTF-8']);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new UnexpectedResponseError(kind, ['not JSON']);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Every value but the first follows a comma or an opening bracket; those in strings count too. */
function mayHoldMoreThan(limit: number, bytes: Buffer): boolean {
  const [comma, bracket, brace] = [0x2c, 0x5b, 0x7b];
  let values = 1;
  // By index: an iterator takes several times as long, of every answer.
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte !== comma && byte !== bracket && byte !== brace) continue;
    values += 1;
    if (values > limit) return true;
  }
  return false;
}

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
  if (status < 400) return new RedirectRefusedError(kind, status);
  const retryAfterMs = parseRetryAfter(reply.header('retry-after'), reply.header('date'), now);
  if (status === 429) return new RateLimitedError(kind, retryAfterMs);
  // 501: the server does not know how to do it, and will not know in a minute.
  if (status === 408 || (status >= 500 && status !== 501)) {
    return new UnavailableError(kind, `status ${status}`, {
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
  if (status === 400 && kind === 'token' && errorCode(reply) === 'unsupported_grant_type') {
    return new UnsupportedGrantError();
  }
  if (status === 400 && kind === 'list' && path !== undefined && !/filter|offset/.test(path))
    return new NotProvisionedError();
  return new RequestRefusedError(kind, status);
}

const errorSchema = z.looseObject({ error: z.string() });

/** `error` of the body, if it is one of the form `{error: <code>}`. */
export function errorCode(reply: HttpReply): string | undefined {
  return errorSchema.safeParse(parseFailureBody(reply)).data?.error;
}

/** A failure may come from a proxy, in HTML: the status says enough then. */
function parseFailureBody(reply: HttpReply): unknown {
  try {
    return JSON.parse(reply.body.toString('utf8'));
  } catch {
    return undefined;
  }
}
