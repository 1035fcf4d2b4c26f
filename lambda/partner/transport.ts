import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import type { Clock } from '../clock.ts';
import { disbelieved } from '../decisions/host-numbers.ts';
import { answered, paceAt, type RequestPace } from '../decisions/pace.ts';
import { type HttpReply, parseRetryAfter } from './api.ts';
import { PartnerError, type PartnerErrorCode, type RequestKind } from './errors.ts';

export interface HttpRequest {
  readonly kind: RequestKind;
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with the query string. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Carries a request to the host and its answer back: undici's pool, or a host in memory. */
export type RequestDispatcher = Pick<Dispatcher, 'dispatch'> & { close(): Promise<void> };

/** The client's options, with their defaults (client.ts). */
interface TransportParts {
  readonly baseUrl: string | URL;
  readonly headersMs: number;
  readonly bodyMs: number;
  readonly maxResponseBytes: number;
  readonly clock: Clock;
  readonly pace: RequestPace;
  readonly onRequest?: ((kind: RequestKind) => void) | undefined;
  readonly dispatcher?: RequestDispatcher | undefined;
}

/** A test keeps it equal to package.json. */
const USER_AGENT = 'certification-notifier/0.1.0';

/**
 * Sends requests to one host, at its pace. It follows no redirect, and reads no more than its
 * limits allow.
 */
export class Transport {
  readonly #parts: TransportParts;
  readonly #dispatcher: RequestDispatcher;
  readonly #prefix: string;

  /** @throws {PartnerError} `invalid-base-url` */
  constructor(parts: TransportParts) {
    const url = parseBaseUrl(parts.baseUrl);
    this.#parts = parts;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#dispatcher = parts.dispatcher ?? poolTo(url.origin, parts);
  }

  /**
   * Any status resolves. When the signal aborts, it rejects with the signal's reason. A request
   * that still waits for a socket then rejects once it has one.
   *
   * @param signal of this request alone
   * @throws {PartnerError} if there is no whole answer; `pace-spent` if the pace has no room for it
   * now
   */
  async send({ kind, ...asked }: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
    const { maxResponseBytes, clock, pace, onRequest } = this.#parts;
    signal.throwIfAborted();
    const startedAt = clock.now().epochMilliseconds;
    const before = paceAt(pace.value, pace.perMinute, startedAt);
    const retryAfterMs = before.opensAt - startedAt;
    if (retryAfterMs > 0) throw new PartnerError('pace-spent', kind, [], { retryAfterMs });
    pace.value = { ...before.pace, sent: before.pace.sent + 1 };
    let reply: HttpReply | undefined;
    try {
      const { statusCode, headers, body } = await request.call(this.#dispatcher, {
        ...asked,
        path: this.#prefix + asked.path,
        headers: {
          accept: 'application/json',
          // A compressed megabyte can be a gigabyte of JSON: the cap must count the bytes that are
          // parsed.
          'accept-encoding': 'identity',
          'user-agent': USER_AGENT,
          ...asked.headers,
        },
        signal,
      });
      const pairs = Object.entries(headers).map(([name, value]) => [name, String(value)]);
      const named: HttpReply['headers'] = Object.fromEntries(pairs);
      const nowMs = clock.now().epochMilliseconds;
      const { odd, ...wait } = parseRetryAfter(statusCode < 400 ? {} : named, nowMs);
      reply = { status: statusCode, headers: named, body: Buffer.alloc(0), ...wait };
      pace.value = answered(pace.value, statusCode, nowMs);
      for (const name of odd) pace.value = disbelieved(pace.value, name, nowMs);
      if (Number(named['content-length']) > maxResponseBytes) {
        // undici counts received bytes: a slow host would time out before these are too many.
        body.on('error', () => {}).destroy();
        throw new PartnerError('response-too-large', kind, 'Content-Length');
      }
      // Not `bytes()`: it keeps a buffer for each byte, if bytes come one by one.
      return { ...reply, body: Buffer.concat(await body.toArray()) };
    } catch (error) {
      if (reply !== undefined && reply.status >= 300) return reply;
      throw signal.aborted ? signal.reason : toPartnerError(kind, error);
    } finally {
      onRequest?.(kind);
    }
  }

  /** Ends the connections once the requests under way have been answered. */
  close(): Promise<void> {
    return this.#dispatcher.close();
  }
}

/**
 * Runs `work` for at most `ms`, and only while the caller's signal allows. Then it rejects at once,
 * with the error of `onTimeout` or the signal's reason, even if the work ignores its own signal.
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
  // Not AbortSignal.any: until something aborts its signal, Node keeps that signal with all its
  // listeners.
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const controller = new AbortController();
  controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  const onAbort = () => controller.abort(signal?.reason);
  const cancel = clock.after(ms, () => controller.abort(onTimeout()));
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    work(controller.signal).then(resolve, reject);
    return await promise;
  } finally {
    cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}

function poolTo(origin: string, limits: TransportParts): RequestDispatcher {
  return new Pool(origin, {
    connections: 8,
    connectTimeout: 5_000,
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.bodyMs,
    maxResponseSize: limits.maxResponseBytes,
    // A Lambda function is frozen between invocations, and its sockets die silently. The next
    // request on a dead socket is reset, and then retried.
    keepAliveMaxTimeout: 60_000,
    allowH2: false,
  });
}

/** Every notation of 127.0.0.0/8 and ::1, as the URL parser writes it. */
const LOOPBACK = /^(localhost|\[::1\]|127(\.\d+){3})$/;

/**
 * The partner's `{base_url}`, checked: `https:`, or `http:` on a loopback address, with nothing but
 * an address.
 */
function parseBaseUrl(baseUrl: string | URL): URL {
  const url = URL.parse(String(baseUrl));
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!url || !isSafe || url.username || url.password || url.search || url.hash)
    throw new PartnerError('invalid-base-url', 'token');
  return url;
}

/** By the codes of Node and undici; any other: `unavailable`. */
const MEANINGS: Readonly<Record<string, PartnerErrorCode>> = {
  ETIMEDOUT: 'timed-out',
  UND_ERR_CONNECT_TIMEOUT: 'timed-out',
  UND_ERR_HEADERS_TIMEOUT: 'timed-out',
  UND_ERR_BODY_TIMEOUT: 'timed-out',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'response-too-large',
  UND_ERR_HEADERS_OVERFLOW: 'unexpected-response',
  UND_ERR_CLOSED: 'invalid-call',
  UND_ERR_DESTROYED: 'invalid-call',
};

/** Node's certificate checks: OpenSSL's X509_V_ERR_*, and its own of the host's name. */
const UNTRUSTED = /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/;

/** The mark of undici on errors of its HTTP parser, the same in every copy of undici. */
const HTTP_PARSER = Symbol.for('undici.error.UND_ERR_HTTP_PARSER');

function toPartnerError(kind: RequestKind, cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof PartnerError) return cause;
  // No cause: this error holds the bytes that could not be read. Its code is often missing.
  if (HTTP_PARSER in cause) return new PartnerError('unexpected-response', kind, 'not HTTP');
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : 'unknown';
  const meaning = UNTRUSTED.test(code) ? 'untrusted-host' : (MEANINGS[code] ?? 'unavailable');
  return new PartnerError(meaning, kind, code, { cause });
}
