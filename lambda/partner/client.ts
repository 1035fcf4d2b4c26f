import type { Temporal } from 'temporal-polyfill';
import { type Clock, systemClock } from '../clock.ts';
import { type RequestPace, refused, unhurried } from '../decisions/pace.ts';
import { reachOf } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import {
  type HttpReply,
  type ListQuery,
  type Page,
  parsePage,
  readRecord,
  toRefusal,
  toSearchParams,
} from './api.ts';
import { PartnerError, type RequestKind } from './errors.ts';
import { fittingPage } from './fitting-page.ts';
import { nextAttempt } from './retry.ts';
import { type CredentialSource, type TokenRequestForm, Tokens } from './token.ts';
import { type RequestDispatcher, Transport, withTimeLimit } from './transport.ts';

export interface PartnerClientLimits {
  /** One attempt as a whole, the token included: a server that drips cannot hold a call. */
  readonly attemptMs: number;
  /** A call as a whole, its retries included, if the caller names no deadline. */
  readonly callMs: number;
  /** Attempts of a call, the first included. */
  readonly attempts: number;
  /** From the request being sent to the last header. */
  readonly headersMs: number;
  /** Between two pieces of the body. Like `headersMs`, by real time and to about half a second, and not by the clock. */
  readonly bodyMs: number;
  /**
   * Cap on the body of an answer: on its announced length, and on its received bytes, which undici
   * counts.
   */
  readonly maxResponseBytes: number;
}

export interface PartnerClientOptions {
  /**
   * `{base_url}`: `https:`, except on loopback addresses. May have a path in front of the API's.
   */
  readonly baseUrl: string | URL;
  readonly credentials: CredentialSource;
  /** How the credentials are sent (docs/partner.md, 4.1). Default: `form`. */
  readonly tokenRequest?: TokenRequestForm;
  readonly clock?: Clock;
  /** For the jitter: from 0 up to, not including, 1. */
  readonly random?: () => number;
  readonly limits?: Partial<PartnerClientLimits>;
  /** Requests sent within a minute, at most; default: no limit but the host's. */
  readonly requestsPerMinute?: number;
  /** Called when a request has ended, also for those that are retried. Must not throw. */
  readonly onRequest?: (kind: RequestKind) => void;
  /** Answers the requests instead of a pool of connections to the base URL's host. */
  readonly dispatcher?: RequestDispatcher;
}

export interface CallOptions {
  /** The call waits for nothing beyond it. */
  readonly deadline?: Temporal.Instant;
  /** When it aborts, the call rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Reads assessments (docs/partner.md, 4.2 and 4.3). Safe to share among concurrent callers. */
export interface PartnerClient {
  /**
   * One page of the list. It has fewer rows than asked for if so many would be too large. If none
   * of these can be read, it also has the next row that can.
   *
   * @throws {PartnerError} or the credential source's error
   */
  list(query?: ListQuery, options?: CallOptions): Promise<Page>;
  /**
   * One assessment by its top-level ID; undefined if it is unknown, out of scope or a part's.
   *
   * @throws {PartnerError} or the credential source's error
   */
  get(id: number, options?: CallOptions): Promise<Assessment | undefined>;
  /** The pace of its requests, as learned from the host's refusals. */
  readonly pace: RequestPace;
  /** Ends the connections. Calls under way are completed, later ones fail. */
  close(): Promise<void>;
}

const ASSESSMENTS = '/api/v1/ax/assessments';

export const DEFAULT_LIMITS: PartnerClientLimits = {
  attemptMs: 20_000,
  callMs: 60_000,
  attempts: 4,
  headersMs: 15_000,
  bodyMs: 10_000,
  // A page of a hundred records with ten parts each is about 200 KB.
  maxResponseBytes: 2 * 1024 * 1024,
};

/** The options with their defaults, and the pace. */
type ClientParts = ReturnType<typeof partsOf>;

function partsOf(options: PartnerClientOptions) {
  const { clock = systemClock, random = Math.random, tokenRequest = 'form' } = options;
  const { requestsPerMinute: perMinute = Number.POSITIVE_INFINITY } = options;
  const pace: RequestPace = { perMinute, value: unhurried };
  return { ...options, ...DEFAULT_LIMITS, ...options.limits, clock, random, tokenRequest, pace };
}

/**
 * @param read for the simulation alone, which remembers the pages that it has parsed: its lives
 * parse the same pages thousands of times
 * @throws {PartnerError} `invalid-base-url`
 */
export function createPartnerClient(
  options: PartnerClientOptions,
  read: typeof parsePage = parsePage,
): PartnerClient {
  const parts = partsOf(options);
  const transport = new Transport(parts);
  const tokens = new Tokens(transport, parts);

  return {
    list: (query = {}, callOptions = {}) =>
      fittingPage(query, (one) => {
        const path = `${ASSESSMENTS}?${toSearchParams(one)}`;
        return ask(parts, tokens, 'list', path, callOptions, (reply) => {
          if (reply.status >= 300) throw toRefusal('list', reply, path);
          return read(reply, one.offset ?? 0);
        });
      }),

    async get(id, callOptions = {}) {
      if (!Number.isSafeInteger(id) || id < 1) {
        throw new PartnerError('invalid-call', 'get', 'id: not a positive integer');
      }
      const path = `${ASSESSMENTS}/${id}`;
      return await ask(parts, tokens, 'get', path, callOptions, (reply) => {
        if (reply.status === 404) return undefined;
        if (reply.status >= 300) throw toRefusal('get', reply, path);
        return readRecord(reply, id);
      });
    },

    pace: parts.pace,

    close: () => transport.close(),
  };
}

/**
 * Asks until there is an answer, or until another attempt has no use. Then it throws the last
 * attempt's own error, at once.
 */
async function ask<T>(
  { clock, random, pace, ...limits }: ClientParts,
  tokens: Tokens,
  kind: RequestKind,
  path: string,
  { deadline = clock.now().add({ milliseconds: limits.callMs }), signal }: CallOptions,
  parse: (reply: HttpReply) => T,
): Promise<T> {
  let failure: unknown;
  for (let failures = 0; ; ) {
    const leftMs = deadline.epochMilliseconds - clock.now().epochMilliseconds;
    const onTimeout = () =>
      leftMs < limits.attemptMs
        ? new PartnerError('out-of-time', kind, 'deadline')
        : new PartnerError('timed-out', kind, 'attempt');
    const limitMs = Math.min(leftMs, limits.attemptMs);
    try {
      return await withTimeLimit(clock, limitMs, onTimeout, signal, async (within) =>
        parse(await tokens.send({ kind, method: 'GET', path }, within)),
      );
    } catch (error) {
      const now = clock.now().epochMilliseconds;
      const untilDeadline = deadline.epochMilliseconds - now;
      const next = nextAttempt(error, failures, limits.attempts, untilDeadline, random);
      // The pace learns from a host that goes on refusing.
      if (next === undefined && error instanceof PartnerError && error.code === 'rate-limited')
        pace.value = refused(pace.value, pace.perMinute, now, error.retryAfterMs);
      failure = failureOf(kind, failure, error);
      if (next === undefined) throw failure;
      failures = next.failures;
      await clock.sleep(next.waitMs, signal);
    }
  }
}

/**
 * The failure of a call that goes no further. A read of the list goes on where the pace cut it off. An
 * id is asked for from the beginning, so without room for all attempts it would never have failed.
 */
function failureOf(kind: RequestKind, before: unknown, error: unknown): unknown {
  return kind === 'get' && reachOf(error) === 'pace' ? (before ?? error) : error;
}
