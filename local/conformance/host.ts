import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { systemClock } from '../../lambda/clock.ts';
import { unhurried } from '../../lambda/decisions/pace.ts';
import type { NotifierError } from '../../lambda/errors.ts';
import { type HttpReply, parseBody, toRefusal } from '../../lambda/partner/api.ts';
import { PartnerError } from '../../lambda/partner/errors.ts';
import { nextAttempt } from '../../lambda/partner/retry.ts';
import {
  type Credentials,
  type TokenRequestForm,
  toTokenRequest,
} from '../../lambda/partner/token.ts';
import { type HttpRequest, Transport, withTimeLimit } from '../../lambda/partner/transport.ts';
import { CredentialsFileRefusedError, RequestsSpentError } from './errors.ts';
import { authorized, list, tokenRequest } from './requests.ts';

/** The limit for the requests of a run, retries included. */
const mostRequests = 199;

/** Statuses of a gateway whose host is unavailable. They are no answers of the host itself. */
const outages: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const now = () => systemClock.now();

const attemptMs = 20_000;
const callMs = 60_000;
const mostAttempts = 3;

/** An HTTP answer as it came, with any status. */
export interface HttpAnswer {
  readonly status: number;
  /** Undefined if the body is no JSON. The check decides whether it has to be. */
  readonly body: unknown;
  /** The partner client's error for a status that is no success. */
  readonly refusal: PartnerError | undefined;
}

/** The answer to a token request in one of the forms of docs/partner.md, 4.1. Neither request nor body is ever shown. */
interface Answered {
  readonly form: TokenRequestForm;
  readonly request: HttpRequest;
  readonly status: number;
  readonly body: unknown;
}

interface Granted extends Answered {
  readonly token: string;
  /** How the server reads HTTP Basic credentials (RFC 6749, 2.3.1), if these credentials can show it. */
  readonly basic?: 'form-decoded' | 'verbatim';
}

export type Grant = Granted | (Answered & { readonly refusal: NotifierError });

export const isGranted = (grant: Grant): grant is Granted => 'token' in grant;

/** A request that was sent. */
export interface Exchange {
  readonly ms: number;
  readonly endedAt: Temporal.Instant;
  /** Of the reply, if there was one. */
  readonly headers: HttpReply['headers'];
}

export interface HostOptions {
  readonly baseUrl: string;
  readonly credentials: Credentials;
  /** The forms of the token request that are tried (docs/partner.md, 4.1). */
  readonly forms: readonly TokenRequestForm[];
  /** For the jitter between attempts: from 0 up to, not including, 1. */
  readonly random?: () => number;
}

export type Send = (request: HttpRequest) => Promise<HttpAnswer>;

/** The host under test: raw HTTP, counted and timed. */
export interface TestedHost {
  /** The answers to the token requests, one for each form. */
  readonly grants: readonly Grant[];
  /** Every request so far, retries included. */
  readonly log: readonly Exchange[];
  /**
   * A request without headers gets the token of the run.
   *
   * @throws {PartnerError} {@link RequestsSpentError}
   */
  readonly send: Send;
}

/**
 * Requests a token in each form, and works with the host.
 *
 * @throws {PartnerError} {@link CredentialsFileRefusedError} if no form gives a token
 */
export async function withHost<T>(
  { baseUrl, credentials, forms, random = Math.random }: HostOptions,
  work: (host: TestedHost) => Promise<T>,
): Promise<T> {
  const log: Exchange[] = [];
  let token: string | undefined;
  const transport = new Transport({
    baseUrl,
    ...{ headersMs: 15_000, bodyMs: 10_000, maxResponseBytes: 4 * 1024 * 1024 },
    clock: systemClock,
    pace: { perMinute: Number.POSITIVE_INFINITY, value: unhurried },
  });

  async function exchange(request: HttpRequest): Promise<HttpReply> {
    if (log.length >= mostRequests) throw new RequestsSpentError(mostRequests);
    const startedAt = performance.now();
    const timedOut = () => new PartnerError('timed-out', request.kind, 'attempt');
    let headers: HttpReply['headers'] = {};
    try {
      const reply = await withTimeLimit(systemClock, attemptMs, timedOut, undefined, (signal) =>
        transport.send(request, signal),
      );
      headers = reply.headers;
      return reply;
    } finally {
      log.push({ ms: performance.now() - startedAt, endedAt: now(), headers });
    }
  }

  async function attempt(request: HttpRequest): Promise<Attempt> {
    try {
      const reply = await exchange(request);
      const isAnswer = reply.status !== 429 && (reply.status < 500 || reply.status === 501);
      return isAnswer
        ? { reply }
        : { reply, failure: toRefusal(request.kind, reply, request.path) };
    } catch (failure) {
      return { failure };
    }
  }

  async function isOfThisRequest({ status }: HttpReply): Promise<boolean> {
    if (token === undefined || outages.has(status)) return false;
    const plain = authorized(list({ page: '1' }), `Bearer ${token}`);
    return (await exchange(plain)).status === 200;
  }

  const settled = (request: HttpRequest) =>
    retried(() => attempt(request), isOfThisRequest, random);

  const requestGrant = async (form: TokenRequestForm, request: HttpRequest) =>
    toGrant(form, request, await settled(request));

  async function grantOf(form: TokenRequestForm): Promise<Grant> {
    const grant = await requestGrant(form, toTokenRequest(credentials, form));
    const verbatim = `${credentials.clientId}:${credentials.clientSecret}`;
    // Both kinds of server read these characters alike, since form-encoding does not change them.
    if (form !== 'basic' || /^[\w.*-]+:[\w.*-]+$/.test(verbatim)) return grant;
    if (isGranted(grant)) return { ...grant, basic: 'form-decoded' };
    const authorization = `Basic ${Buffer.from(verbatim).toString('base64')}`;
    const asItIs = authorized(tokenRequest({ grant_type: 'client_credentials' }), authorization);
    const second = await requestGrant(form, asItIs);
    return isGranted(second) ? { ...second, basic: 'verbatim' } : grant;
  }

  async function sendAs({ form, request: renewal }: Granted, request: HttpRequest) {
    if (request.headers) return toAnswer(request, await settled(request));
    for (let refusals = 0; refusals < 2; refusals++) {
      const reply = await settled(authorized(request, `Bearer ${token}`));
      if (reply.status !== 401) return toAnswer(request, reply);
      const renewed = await requestGrant(form, renewal);
      if (isGranted(renewed)) token = renewed.token;
    }
    throw new PartnerError('token-refused-twice', request.kind);
  }

  try {
    const grants = await Array.fromAsync(forms, (form) => grantOf(form));
    const granted = grants.findLast(isGranted);
    if (granted === undefined) throw grants.find((grant) => 'refusal' in grant)?.refusal;
    token = granted.token;
    return await work({ grants, log, send: (request) => sendAs(granted, request) });
  } finally {
    await transport.close();
  }
}

/** A reply without a failure is an answer. */
interface Attempt {
  readonly reply?: HttpReply;
  readonly failure?: unknown;
}

/**
 * The answer, after retries where they help. A 500 that stays is an answer, too, if the host answers a plain request
 * meanwhile: then the host cannot handle this request, but is not down.
 */
async function retried(
  attempt: () => Promise<Attempt>,
  isAnswer: (reply: HttpReply) => Promise<boolean>,
  random: () => number,
): Promise<HttpReply> {
  const endMs = now().epochMilliseconds + callMs;
  for (let failures = 0; ; ) {
    const { reply, failure } = await attempt();
    if (reply && failure === undefined) return reply;
    const leftMs = endMs - now().epochMilliseconds;
    const next = nextAttempt(failure, failures, mostAttempts, leftMs, random);
    if (next === undefined && reply && (await isAnswer(reply))) return reply;
    if (next === undefined) throw failure;
    failures = next.failures;
    await systemClock.sleep(next.waitMs);
  }
}

/** @throws {PartnerError} `response-too-large` */
function toAnswer({ kind, path }: HttpRequest, reply: HttpReply): HttpAnswer {
  const { status } = reply;
  const refusal = status < 300 ? undefined : toRefusal(kind, reply, path);
  try {
    return { status, body: parseBody(kind, reply), refusal };
  } catch (error) {
    if (!(error instanceof PartnerError) || error.code !== 'unexpected-response') throw error;
    return { status, body: undefined, refusal };
  }
}

const tokenSchema = z.object({ access_token: z.string().regex(/^[\x21-\x7e]+$/) });

export const tokenIn = (body: unknown): string | undefined =>
  tokenSchema.safeParse(body).data?.access_token;

function toGrant(form: TokenRequestForm, request: HttpRequest, reply: HttpReply): Grant {
  const { status, body, refusal } = toAnswer(request, reply);
  const answered = { form, request, status, body };
  if (refusal?.code === 'credentials-refused')
    return { ...answered, refusal: new CredentialsFileRefusedError() };
  if (refusal) return { ...answered, refusal };
  const token = tokenIn(body);
  if (token !== undefined) return { ...answered, token };
  const without = new PartnerError('unexpected-response', 'token', ['no access token']);
  return { ...answered, refusal: without };
}
