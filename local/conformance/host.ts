import { type Clock, systemClock } from '../../lambda/clock.ts';
import { unhurried } from '../../lambda/decisions/pace.ts';
import { toRefusal } from '../../lambda/partner/api.ts';
import { PartnerError, type RequestKind } from '../../lambda/partner/errors.ts';
import { nextAttempt } from '../../lambda/partner/retry.ts';
import type { Credentials, TokenRequestForm } from '../../lambda/partner/token.ts';
import {
  type HttpReply,
  type HttpRequest,
  Transport,
  withTimeLimit,
} from '../../lambda/partner/transport.ts';
import { RequestsSpentError } from './errors.ts';
import { type Grant, requestGrant, requestGrants } from './grants.ts';
import { type HttpAnswer, toAnswer } from './http-answer.ts';

/** The limit for the requests of a run, retries included. */
const mostRequests = 199;

const list = '/api/v1/ax/assessments';

/** Statuses of a gateway whose host is unavailable. They are no answers of the host itself. */
const outages: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const attemptMs = 20_000;
const callMs = 60_000;
const mostAttempts = 3;

/** Headers that announce a rate limit: the fields of the IETF draft, and earlier ones. */
const rateLimitHeaders = [
  'ratelimit',
  'ratelimit-policy',
  ...['limit', 'remaining', 'reset'].flatMap((end) => [
    `ratelimit-${end}`,
    `x-ratelimit-${end}`,
    `x-rate-limit-${end}`,
  ]),
  'retry-after',
] as const;

/** `name` → value, or one value per repetition of the name. */
export type Params = Readonly<Record<string, string | readonly string[]>>;

export interface HostOptions {
  readonly baseUrl: string;
  readonly credentials: Credentials;
  /** The forms of the token request that are tried (docs/partner.md, 4.1). */
  readonly forms: readonly TokenRequestForm[];
  readonly clock?: Clock;
  /** For the jitter between attempts: from 0 up to, not including, 1. */
  readonly random?: () => number;
}

/** The host under test: raw HTTP with a token, counted and timed. It sends only GETs and token requests. */
export class TestedHost {
  readonly #transport: Transport;
  readonly #options: HostOptions;
  readonly #clock: Clock;
  #grants: readonly Grant[] = [];
  #token = '';
  #rateLimitHeaders = new Set<string>();
  #skewSeconds: number | undefined;
  readonly #durations: number[] = [];

  private constructor(options: HostOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#transport = new Transport({
      baseUrl: options.baseUrl,
      ...{ headersMs: 15_000, bodyMs: 10_000, maxResponseBytes: 4 * 1024 * 1024 },
      clock: systemClock,
      pace: { perMinute: Number.POSITIVE_INFINITY, value: unhurried },
    });
  }

  /**
   * Requests a token in each form.
   *
   * @throws {PartnerError} {@link CredentialsFileRefusedError} if no form gives a token
   */
  static async open(options: HostOptions): Promise<TestedHost> {
    const host = new TestedHost(options);
    try {
      host.#grants = await requestGrants(options.forms, options.credentials, (request) =>
        host.#settled(request),
      );
      host.#token = host.#grants.findLast(({ token }) => token !== undefined)?.token ?? '';
    } catch (error) {
      await host.close();
      throw error;
    }
    return host;
  }

  /** The answers to the token requests, one for each form. */
  get grants(): readonly Grant[] {
    return this.#grants;
  }

  get requests(): number {
    return this.#durations.length;
  }

  /** Milliseconds of each request. */
  get durations(): readonly number[] {
    return this.#durations;
  }

  /** Names of the rate limit headers that any answer had. */
  get rateLimitHeaders(): readonly string[] {
    return [...this.#rateLimitHeaders];
  }

  /** Seconds by which the host's `Date` was ahead of this machine's clock, in the first answer with one. */
  get skewSeconds(): number | undefined {
    return this.#skewSeconds;
  }

  /** An authorized GET of the list. @throws {PartnerError} {@link RequestsSpentError} */
  list(params: Params): Promise<HttpAnswer> {
    return this.#authorized('list', `${list}?${search(params)}`);
  }

  /** An authorized GET of one record. @throws {PartnerError} {@link RequestsSpentError} */
  record(id: number): Promise<HttpAnswer> {
    return this.#authorized('get', `${list}/${id}`);
  }

  /** A GET with another `Authorization` header, or without one; of one record if an ID is given. */
  async withAuthorization(authorization: string | undefined, id?: number): Promise<HttpAnswer> {
    const request = this.#request(
      id === undefined ? 'list' : 'get',
      id === undefined ? `${list}?page=1` : `${list}/${id}`,
      authorization,
    );
    return toAnswer(request.kind, await this.#settled(request));
  }

  /** A token request with these form parameters. */
  async tokenRequest(fields: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    const reply = await this.#settled({
      kind: 'token',
      method: 'POST',
      path: '/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    });
    return toAnswer('token', reply);
  }

  /** The credentials, under their names in a token request. They are never shown. */
  get clientFields(): { readonly client_id: string; readonly client_secret: string } {
    const { clientId, clientSecret } = this.#options.credentials;
    return { client_id: clientId, client_secret: clientSecret };
  }

  /** Another token, as a second process of the same integration would request it. */
  async anotherToken(): Promise<string | undefined> {
    const form = this.#grants.findLast(({ token }) => token !== undefined)?.form ?? 'form';
    const { token } = await requestGrant(form, this.#options.credentials, (request) =>
      this.#settled(request),
    );
    if (token !== undefined) this.#token = token;
    return token;
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #authorized(kind: RequestKind, path: string): Promise<HttpAnswer> {
    for (let refusals = 0; refusals < 2; refusals++) {
      const authorization = `Bearer ${this.#token}`;
      const reply = await this.#settled(this.#request(kind, path, authorization));
      if (reply.status !== 401) return toAnswer(kind, reply, path);
      await this.anotherToken();
    }
    throw new PartnerError('token-refused-twice', kind);
  }

  #request(kind: RequestKind, path: string, authorization: string | undefined): HttpRequest {
    return {
      kind,
      method: 'GET',
      path,
      headers: authorization === undefined ? {} : { authorization },
    };
  }

  /**
   * The answer, after retries where they help. A 500 that stays is an answer, too, if the host answers a plain request
   * meanwhile: then the host cannot handle this request, but is not down.
   */
  async #settled(request: HttpRequest): Promise<HttpReply> {
    const { random = Math.random } = this.#options;
    const endMs = this.#clock.now().epochMilliseconds + callMs;
    for (let failures = 0; ; ) {
      const { reply, failure } = await this.#attempt(request);
      if (failure === undefined) return reply;
      const leftMs = endMs - this.#clock.now().epochMilliseconds;
      const next = nextAttempt(failure, failures, mostAttempts, leftMs, random);
      if (next === undefined) {
        if (reply && !outages.has(reply.status) && (await this.#isWell())) return reply;
        throw failure;
      }
      failures = next.failures;
      await this.#clock.sleep(next.waitMs);
    }
  }

  async #attempt(
    request: HttpRequest,
  ): Promise<
    { reply: HttpReply; failure?: undefined } | { reply?: HttpReply; failure: PartnerError }
  > {
    try {
      const reply = await this.#send(request);
      const isAnswer = reply.status !== 429 && (reply.status < 500 || reply.status === 501);
      if (isAnswer) return { reply };
      return { reply, failure: toRefusal(request.kind, reply, this.#clock.now()) };
    } catch (error) {
      if (error instanceof PartnerError) return { failure: error };
      throw error;
    }
  }

  async #isWell(): Promise<boolean> {
    if (this.#token === '') return false;
    const plain = this.#request('list', `${list}?page=1`, `Bearer ${this.#token}`);
    return (await this.#send(plain)).status === 200;
  }

  async #send(request: HttpRequest): Promise<HttpReply> {
    if (this.requests >= mostRequests) throw new RequestsSpentError(mostRequests);
    const startedAt = performance.now();
    const index = this.#durations.push(0) - 1;
    const reply = await withTimeLimit(
      systemClock,
      attemptMs,
      () => new PartnerError('timed-out', request.kind, 'attempt'),
      undefined,
      (signal) => this.#transport.send(request, signal),
    ).finally(() => {
      this.#durations[index] = performance.now() - startedAt;
    });
    for (const name of rateLimitHeaders) {
      if (name in reply.headers) this.#rateLimitHeaders.add(name);
    }
    const date = Date.parse(reply.headers.date ?? '');
    if (this.#skewSeconds === undefined && !Number.isNaN(date)) {
      this.#skewSeconds = Math.round((date - this.#clock.now().epochMilliseconds) / 1000);
    }
    return reply;
  }
}

function search(params: Params): string {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  return new URLSearchParams(pairs).toString();
}
