import type { Temporal } from 'temporal-polyfill';
import { type Clock, systemClock } from '../clock.ts';
import { answered, opensAt, refused, spent, unhurried } from '../detection/pace.ts';
import { faultOf } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import type { RequestPace } from '../ports/request-pace.ts';
import { PartnerError, type RequestKind } from './errors.ts';
import { fittingPage } from './fitting-page.ts';
import { type ListQuery, toSearchParams } from './query.ts';
import { type Page, type ReadPage, readPage, readRecord } from './records.ts';
import { toRefusal } from './refusals.ts';
import { type RetryPolicy, withRetries, withTimeLimit } from './retry.ts';
import { type CredentialSource, type TokenRequestForm, Tokens } from './token.ts';
import {
  type HttpReply,
  type HttpRequest,
  type RequestDispatcher,
  Transport,
  type TransportLimits,
} from './transport.ts';

export interface PartnerClientLimits extends TransportLimits, RetryPolicy {
  /** One attempt as a whole, the token included: a server that drips cannot hold a call. */
  readonly attemptMs: number;
  /** A call as a whole, its retries included, if the caller names no deadline. */
  readonly callMs: number;
}

/** One HTTP request that was made. Holds no personal data and no credential. */
export interface RequestInfo {
  readonly kind: RequestKind;
  readonly ms: number;
  /** Of the answer; undefined if there was none. */
  readonly status: number | undefined;
  /** The answer's `Date` header: the partner's clock. */
  readonly date: string | undefined;
}

export interface PartnerClientOptions {
  /** `{base_url}`: `https:`, save on loopback addresses. May have a path in front of the API's. */
  readonly baseUrl: string | URL;
  readonly credentials: CredentialSource;
  /** How the credentials are sent (partner-api.md, 4.1). Default: `form`. */
  readonly tokenRequest?: TokenRequestForm;
  readonly clock?: Clock;
  /** For the jitter: from 0 up to, not including, 1. */
  readonly random?: () => number;
  readonly limits?: Partial<PartnerClientLimits>;
  /** Requests that are sent within a minute, at most; default: no limit but the host's. */
  readonly requestsPerMinute?: number;
  /** Told of each request, also of those that are retried. Must not throw. */
  readonly onRequest?: (info: RequestInfo) => void;
  /** Answers the requests instead of a pool of connections to the base URL's host. */
  readonly dispatcher?: RequestDispatcher;
}

export interface CallOptions {
  /** Nothing is waited for beyond it. */
  readonly deadline?: Temporal.Instant;
  /** When it aborts, the call rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Reads assessments (partner-api.md, 4.2 and 4.3). Safe to share among concurrent callers. */
export interface PartnerClient {
  /**
   * One page of the list, of fewer rows than asked for where so many are too large.
   *
   * @throws {PartnerError} or what the credential source throws
   */
  list(query?: ListQuery, options?: CallOptions): Promise<Page>;
  /**
   * One assessment by its top-level ID; undefined if it is unknown, out of scope or a part's.
   *
   * @throws {PartnerError} or what the credential source throws
   */
  get(id: number, options?: CallOptions): Promise<Assessment | undefined>;
  /** Of its requests, as the host's refusals have taught it. */
  readonly pace: RequestPace;
  /** Ends the connections. Calls under way are completed, later ones fail. */
  close(): Promise<void>;
}

const ASSESSMENTS = '/api/v1/ax/assessments';

export const DEFAULT_LIMITS: PartnerClientLimits = {
  connectMs: 5_000,
  headersMs: 15_000,
  bodyMs: 10_000,
  // A page of a hundred records with ten parts each is about 200 KB.
  maxResponseBytes: 2 * 1024 * 1024,
  connections: 8,
  attempts: 4,
  backoffMs: 500,
  maxBackoffMs: 8_000,
  attemptMs: 20_000,
  callMs: 60_000,
};

/**
 * @param read the simulation's hook, and nobody else's: it remembers what it has read of the same answer, as
 *   its lives have the same pages parsed thousands of times
 * @throws {PartnerError} `invalid-base-url`
 */
export function createPartnerClient(
  options: PartnerClientOptions,
  read: ReadPage = readPage,
): PartnerClient {
  const { clock = systemClock, random = Math.random, onRequest } = options;
  const { requestsPerMinute = Number.POSITIVE_INFINITY, tokenRequest = 'form' } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const pace: RequestPace = { perMinute: requestsPerMinute, value: unhurried };
  const transport = new Transport(options.baseUrl, limits, options.dispatcher);
  const tokens = new Tokens({
    credentials: options.credentials,
    form: tokenRequest,
    clock,
    send,
    limitMs: limits.attemptMs,
  });

  /** @throws {PartnerError} `pace-spent` if the pace has no room for it now */
  async function send(request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
    signal.throwIfAborted();
    const { kind } = request;
    const startedAt = clock.now().epochMilliseconds;
    const retryAfterMs = opensAt(pace.value, pace.perMinute, startedAt) - startedAt;
    if (retryAfterMs > 0) throw new PartnerError('pace-spent', kind, [], { retryAfterMs });
    pace.value = spent(pace.value, pace.perMinute, startedAt);
    let reply: HttpReply | undefined;
    try {
      reply = await transport.send(request, signal);
      return reply;
    } finally {
      const now = clock.now().epochMilliseconds;
      if (reply) pace.value = answered(pace.value, reply.status, now);
      const { status, headers } = reply ?? {};
      onRequest?.({ kind, ms: now - startedAt, status, date: headers?.date });
    }
  }

  async function ask<T>(
    kind: RequestKind,
    path: string,
    { deadline = clock.now().add({ milliseconds: limits.callMs }), signal }: CallOptions,
    parse: (reply: HttpReply) => T,
  ): Promise<T> {
    const context = { ...limits, deadline, clock, random, signal };
    return await withRetries(() => {
      const left = deadline.epochMilliseconds - clock.now().epochMilliseconds;
      const isLast = left < limits.attemptMs;
      return withTimeLimit(
        clock,
        Math.min(left, limits.attemptMs),
        () =>
          isLast
            ? new PartnerError('out-of-time', kind, 'deadline')
            : new PartnerError('timed-out', kind, 'attempt'),
        signal,
        async (within) => parse(await tokens.send({ kind, method: 'GET', path }, within)),
      );
    }, context).catch((error) => {
      if (error instanceof PartnerError && error.code === 'rate-limited') {
        const now = clock.now().epochMilliseconds;
        pace.value = refused(pace.value, pace.perMinute, now, error.retryAfterMs);
      }
      throw error;
    });
  }

  async function page(query: ListQuery, callOptions: CallOptions): Promise<Page> {
    const path = `${ASSESSMENTS}?${toSearchParams(query)}`;
    return await ask('list', path, callOptions, (reply) => {
      if (reply.status >= 300) throw toRefusal('list', reply, clock.now(), path);
      return read(reply, query.offset ?? 0);
    });
  }

  return {
    async list(query = {}, callOptions = {}) {
      try {
        return await page(query, callOptions);
      } catch (error) {
        if (faultOf(error) !== 'record') throw error;
        return await fittingPage((fewer) => page(fewer, callOptions), query);
      }
    },

    async get(id, callOptions = {}) {
      if (!Number.isSafeInteger(id) || id < 1) {
        throw new PartnerError('invalid-query', 'get', 'id: not a positive integer');
      }
      return await ask('get', `${ASSESSMENTS}/${id}`, callOptions, (reply) => {
        if (reply.status === 404) return undefined;
        if (reply.status >= 300) throw toRefusal('get', reply, clock.now());
        return readRecord(reply, id);
      });
    },

    pace,

    close: () => transport.close(),
  };
}
