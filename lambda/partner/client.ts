import type { Temporal } from 'temporal-polyfill';
import { type Clock, systemClock } from '../clock.ts';
import { answered, opensAt, refused, spent, unhurried } from '../detection/pace.ts';
import { faultOf, NotifierError } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import type { RequestPace } from '../ports/request-pace.ts';
import {
  InvalidQueryError,
  PaceSpentError,
  PartnerError,
  type RequestKind,
  TimedOutError,
  TokenRefusedTwiceError,
} from './errors.ts';
import { fittingPage } from './fitting-page.ts';
import { type ListQuery, toSearchParams } from './query.ts';
import { type Page, type ReadPage, readPage, readRecord } from './records.ts';
import { toRefusal } from './refusals.ts';
import { type RetryPolicy, withRetries, withTimeLimit } from './retry.ts';
import { type CredentialSource, TokenCache, type TokenRequestForm } from './token.ts';
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
  /** From 1, within one call of `list` or `get`, or one renewal of the token. */
  readonly attempt: number;
  readonly ms: number;
  /** Of the answer; absent if there was none. */
  readonly status?: number;
  /** The answer's `Date` header: the partner's clock. */
  readonly date?: string;
  /** Code of the error that was there instead of an answer. */
  readonly error?: string;
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
 * @throws {InvalidBaseUrlError}
 */
export function createPartnerClient(
  options: PartnerClientOptions,
  read: ReadPage = readPage,
): PartnerClient {
  const { clock = systemClock, random = Math.random, onRequest } = options;
  const nowMs = () => clock.now().epochMilliseconds;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { requestsPerMinute = Number.POSITIVE_INFINITY } = options;
  const pace: RequestPace = { perMinute: requestsPerMinute, value: unhurried };
  const transport = new Transport(options.baseUrl, limits, options.dispatcher);
  const tokens = new TokenCache({
    credentials: options.credentials,
    form: options.tokenRequest ?? 'form',
    clock,
    send,
    withTimeLimit: (work) =>
      withTimeLimit(
        clock,
        limits.attemptMs,
        () => new TimedOutError('token', 'attempt'),
        undefined,
        work,
      ),
  });

  /** @throws {PaceSpentError} if the pace has no room for it now */
  async function send(request: HttpRequest, attempt: number, signal: AbortSignal) {
    signal.throwIfAborted();
    const { kind } = request;
    const startedAt = nowMs();
    const waitMs = opensAt(pace.value, pace.perMinute, startedAt) - startedAt;
    if (waitMs > 0) throw new PaceSpentError(kind, waitMs);
    pace.value = spent(pace.value, pace.perMinute, startedAt);
    let outcome: Pick<RequestInfo, 'status' | 'date' | 'error'> = { error: 'aborted' };
    try {
      const reply = await transport.send(request, signal);
      const { status } = reply;
      pace.value = answered(pace.value, status, nowMs());
      const { date } = reply.headers;
      outcome = { status, ...(date !== undefined && { date }) };
      return reply;
    } catch (error) {
      if (error instanceof NotifierError) outcome = { error: error.code };
      throw error;
    } finally {
      onRequest?.({ kind, attempt, ms: nowMs() - startedAt, ...outcome });
    }
  }

  async function authorized(
    kind: RequestKind,
    path: string,
    attempt: number,
    signal: AbortSignal,
  ): Promise<HttpReply> {
    for (let refusals = 0; refusals < 2; refusals += 1) {
      const token = await tokens.get();
      const headers = { authorization: `Bearer ${token.value}` };
      const reply = await send({ kind, method: 'GET', path, headers }, attempt, signal);
      if (reply.status !== 401) return reply;
      tokens.drop(token);
    }
    throw new TokenRefusedTwiceError(kind);
  }

  async function call<T>(
    kind: RequestKind,
    path: string,
    { deadline = clock.now().add({ milliseconds: limits.callMs }), signal }: CallOptions,
    parse: (reply: HttpReply) => T | Promise<T>,
  ): Promise<T> {
    try {
      return await withRetries(
        (attempt) => {
          const left = deadline.epochMilliseconds - nowMs();
          const phase = left < limits.attemptMs ? 'deadline' : 'attempt';
          return withTimeLimit(
            clock,
            Math.min(left, limits.attemptMs),
            () => new TimedOutError(kind, phase),
            signal,
            async (within) => await parse(await authorized(kind, path, attempt, within)),
          );
        },
        { ...limits, deadline, clock, random, signal },
      );
    } catch (error) {
      if (error instanceof PartnerError && error.reach === 'pace' && error.wasSent)
        pace.value = refused(pace.value, pace.perMinute, nowMs(), error.retryAfterMs);
      throw error;
    }
  }

  async function page(query: ListQuery, callOptions: CallOptions): Promise<Page> {
    const path = `${ASSESSMENTS}?${toSearchParams(query)}`.replace(/\?$/, '');
    return await call('list', path, callOptions, (reply) => {
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
        throw new InvalidQueryError(['id: not a positive integer']);
      }
      return await call('get', `${ASSESSMENTS}/${id}`, callOptions, (reply) => {
        if (reply.status === 404) return undefined;
        if (reply.status >= 300) throw toRefusal('get', reply, clock.now());
        return readRecord(reply, id);
      });
    },

    pace,

    close: () => transport.close(),
  };
}
