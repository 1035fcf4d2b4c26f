import * as z from 'zod/mini';
import type { Clock } from '../clock.ts';
import { disbelieved } from '../decisions/host-numbers.ts';
import type { RequestPace } from '../decisions/pace.ts';
import {
  endedEarly,
  isYoung,
  pauseBeforeToken,
  useOf,
  waitsForToken,
} from '../decisions/tokens.ts';
import { inEnglish, problemsOf } from '../english.ts';
import { type HttpReply, parseBody, toRefusal } from './api.ts';
import { PartnerError, type RequestKind } from './errors.ts';
import { type HttpRequest, type Transport, withTimeLimit } from './transport.ts';

/** Issued by the partner (docs/partner.md, 1). The secret is a password. */
export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** `afresh`: bypass any cache, because the partner has just refused the cached ones. */
export type CredentialSource = (options?: { afresh?: boolean }) => Promise<Credentials>;

/** The three forms of docs/partner.md, 4.1. */
export type TokenRequestForm = 'form' | 'basic' | 'json';

/** The client's options, with their defaults (client.ts). */
interface TokenParts {
  readonly credentials: CredentialSource;
  readonly tokenRequest: TokenRequestForm;
  readonly attemptMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pace: RequestPace;
}

/** docs/partner.md, 2.1; `created_at` is the server's clock, and therefore not used. */
const tokenSchema = z.looseObject({
  // Visible ASCII: anything else would break out of, or be refused in, the header.
  access_token: z.string().check(z.regex(/^[\x21-\x7e]+$/)),
  token_type: z.string().check(z.regex(/^bearer$/i)),
  expires_in: z.unknown(),
});

/** A token, and its use so far. */
interface Token {
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly usableUntilMs: number;
  /** Likewise; a refusal before then is an early end. */
  readonly earlyUntilMs: number;
  /** By the monotonic clock. */
  readonly issuedMs: number;
  /** The waits that are left before it is given up. */
  readonly waits: number[];
  /** It has been accepted. */
  hasWorked: boolean;
  /** One caller tries it again after a refusal, and the others wait until that has ended. */
  trial?: Promise<void> | undefined;
}

/** Tokens that one call asks for, at most. */
const tokensOfACall = 2;

/**
 * Sends requests with a token, which it caches. It requests one token at a time for all waiting
 * callers.
 *
 * A refused token is replaced, unless it is so new that it may become good: then its caller tries
 * it again after short waits, and the others wait for that. One that has worked is replaced at
 * once, unless others ask for tokens, too: then after a pause, in which they get on. A call asks for
 * two tokens at most, the second with the credentials read afresh.
 *
 * @throws {PartnerError} or the credential source's error
 */
export class Tokens {
  readonly #transport: Transport;
  readonly #parts: TokenParts;
  #token: Token | undefined;
  #pending: Promise<void> | undefined;

  constructor(transport: Transport, parts: TokenParts) {
    this.#transport = transport;
    this.#parts = parts;
  }

  async send(request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
    const { clock } = this.#parts;
    for (let asked = 0; ; ) {
      const used = this.#token;
      if (used === undefined || clock.now().epochMilliseconds >= used.usableUntilMs) {
        await this.#renew(asked, request.kind, signal);
        asked += 1;
      } else if (used.trial) {
        await used.trial;
      } else {
        const reply = await this.#sendWith(used, request, signal);
        if (reply.status !== 401) return reply;
      }
    }
  }

  /** @param asked tokens that this call has asked for */
  async #renew(asked: number, kind: RequestKind, signal: AbortSignal): Promise<void> {
    if (asked === tokensOfACall) throw new PartnerError('token-refused-twice', kind);
    const { clock, attemptMs, pace, random } = this.#parts;
    const before = this.#token;
    const nowMs = clock.now().epochMilliseconds;
    const pauseMs = pauseBeforeToken(pace.value, asked > 0, nowMs, random);
    if (pauseMs > 0) await clock.sleep(pauseMs, signal);
    // Another caller has got one meanwhile.
    if (this.#token && this.#token !== before) return;
    const onTimeout = () => new PartnerError('timed-out', 'token', 'attempt');
    // The request serves many callers, so no caller's deadline applies to it.
    this.#pending ??= withTimeLimit(clock, attemptMs, onTimeout, undefined, (own) =>
      this.#ask(own, asked > 0),
    ).finally(() => {
      this.#pending = undefined;
    });
    await this.#pending;
  }

  async #ask(signal: AbortSignal, isAfresh: boolean): Promise<void> {
    const { credentials, tokenRequest, clock } = this.#parts;
    // With the secret as it is now: it may have been rotated since it was cached.
    for (const afresh of isAfresh ? [true] : [false, true]) {
      const request = toTokenRequest(await credentials({ afresh }), tokenRequest);
      const sentAtMs = clock.now().epochMilliseconds;
      const reply = await this.#transport.send(request, signal);
      if (reply.status < 300) {
        this.#token = this.#read(reply, sentAtMs);
        return;
      }
      const refusal = toRefusal('token', reply, request.path);
      if (afresh || refusal.code !== 'credentials-refused') throw refusal;
    }
  }

  #read(reply: HttpReply, sentAtMs: number): Token {
    const { clock, pace } = this.#parts;
    const { data, error } = tokenSchema.safeParse(parseBody('token', reply), inEnglish);
    if (error) throw new PartnerError('unexpected-response', 'token', problemsOf(error));
    const { useMs, earlyMs, isOdd } = useOf(data.expires_in);
    if (isOdd) pace.value = disbelieved(pace.value, 'expires_in', sentAtMs);
    return {
      value: data.access_token,
      // Counted from the sending: the answer's way back is part of the token's life.
      usableUntilMs: sentAtMs + useMs,
      earlyUntilMs: sentAtMs + earlyMs,
      issuedMs: clock.monotonicMs(),
      waits: [...waitsForToken(pace, sentAtMs)],
      hasWorked: false,
    };
  }

  /** @returns 401 if the token was refused: it has been dropped, or is tried again */
  async #sendWith(used: Token, request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
    const { hasWorked } = used;
    const reply = await this.#sendOnce(used, request, signal);
    if (reply.status !== 401) return reply;
    if (hasWorked) this.#drop(used);
    // The request may have been sent before another caller's, for which the token was good.
    else if (!used.hasWorked && !used.trial && this.#token === used)
      return this.#tryOut(used, reply, request, signal);
    return reply;
  }

  async #sendOnce(used: Token, request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
    const headers = { authorization: `Bearer ${used.value}` };
    const reply = await this.#transport.send({ ...request, headers }, signal);
    if (reply.status < 300) used.hasWorked = true;
    return reply;
  }

  /** Tries a token that has just been refused again, as long as it may become good. */
  async #tryOut(
    used: Token,
    refused: HttpReply,
    request: HttpRequest,
    signal: AbortSignal,
  ): Promise<HttpReply> {
    const { clock } = this.#parts;
    const { promise, resolve } = Promise.withResolvers<void>();
    used.trial = promise;
    try {
      let reply = refused;
      while (reply.status === 401) {
        const isYetUnknown = isYoung(clock.monotonicMs() - used.issuedMs);
        const wait = isYetUnknown ? used.waits.shift() : undefined;
        if (wait === undefined) {
          this.#drop(used);
          break;
        }
        await clock.sleep(wait, signal);
        reply = await this.#sendOnce(used, request, signal);
      }
      return reply;
    } finally {
      used.trial = undefined;
      resolve();
    }
  }

  #drop(used: Token): void {
    const { clock, pace } = this.#parts;
    // One that has replaced it meanwhile stays.
    if (this.#token !== used) return;
    this.#token = undefined;
    const nowMs = clock.now().epochMilliseconds;
    const isEarly = nowMs < used.earlyUntilMs;
    if (used.hasWorked && isEarly) pace.value = endedEarly(pace.value, nowMs);
  }
}

export function toTokenRequest(
  { clientId, clientSecret }: Credentials,
  form: TokenRequestForm,
): HttpRequest {
  const grant = { grant_type: 'client_credentials' };
  const whole = { ...grant, client_id: clientId, client_secret: clientSecret };
  const post = { kind: 'token', method: 'POST', path: '/oauth/token' } as const;
  if (form === 'json') {
    const headers = { 'content-type': 'application/json' };
    return { ...post, headers, body: JSON.stringify(whole) };
  }
  // RFC 6749, 2.3.1: each is form-encoded first, so that a colon in the ID stays unambiguous.
  const pair = new URLSearchParams([[clientId, clientSecret]]).toString().replace('=', ':');
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...(form === 'basic' && { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }),
  };
  const body = new URLSearchParams(form === 'basic' ? grant : whole).toString();
  return { ...post, headers, body };
}
