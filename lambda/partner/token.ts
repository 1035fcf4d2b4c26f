import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Clock } from '../clock.ts';
import { inEnglish, problemsOf } from '../english.ts';
import { CredentialsRefusedError, UnexpectedResponseError } from './errors.ts';
import { parseBody } from './records.ts';
import { errorCode, toRefusal } from './refusals.ts';
import type { HttpReply, HttpRequest } from './transport.ts';

/** What the partner issued (partner-api.md, 1). The secret is a password. */
export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** `afresh`: bypass any cache, because the partner has just refused what was cached. */
export type CredentialSource = (options?: { afresh?: boolean }) => Promise<Credentials>;

/** The three forms of partner-api.md, 4.1. */
export type TokenRequestForm = 'form' | 'basic' | 'json';

/** A token as it goes into the Authorization header. Compared by identity. */
export interface Token {
  readonly value: string;
  readonly usableUntil: Temporal.Instant;
}

/** partner-api.md, 2.1; `created_at` is the server's clock, and therefore not used. */
const tokenSchema = z.looseObject({
  // Visible ASCII: anything else would break out of, or be refused in, the header.
  access_token: z.string().check(z.regex(/^[\x21-\x7e]+$/)),
  token_type: z.string().check(z.regex(/^bearer$/i)),
  expires_in: z.int().check(z.nonnegative()),
});

/** A token is replaced this long before it expires, or at half of its life if that is later. */
const MARGIN_MS = 60_000;

/** No token is kept for longer, whatever its `expires_in`; the document's live for two hours. */
const MAX_LIFE_MS = 24 * 3_600_000;

export interface TokenCacheParts {
  readonly credentials: CredentialSource;
  readonly form: TokenRequestForm;
  readonly clock: Clock;
  readonly send: (request: HttpRequest, attempt: number, signal: AbortSignal) => Promise<HttpReply>;
  /** Bounds a whole renewal: it serves many callers, so that no one's deadline applies to it. */
  readonly withTimeLimit: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}

/** Issues one request at a time, however many callers wait, and keeps the token. */
export class TokenCache {
  readonly #parts: TokenCacheParts;
  #token: Token | undefined;
  #pending: Promise<Token> | undefined;

  constructor(parts: TokenCacheParts) {
    this.#parts = parts;
  }

  /** @throws {PartnerError} or whatever the credential source throws */
  async get(): Promise<Token> {
    const nowMs = this.#parts.clock.now().epochMilliseconds;
    if (this.#token && nowMs < this.#token.usableUntil.epochMilliseconds) return this.#token;
    this.#pending ??= this.#parts
      .withTimeLimit((signal) => this.#renew(signal))
      .finally(() => {
        this.#pending = undefined;
      });
    return await this.#pending;
  }

  /** Forgets the token that was refused; one that has replaced it meanwhile stays. */
  drop(refused: Token): void {
    if (this.#token === refused) this.#token = undefined;
  }

  async #renew(signal: AbortSignal): Promise<Token> {
    const first = await this.#ask(false, 1, signal);
    if (!isCredentialRefusal(first.reply)) return this.#accept(first);
    // The secret may have been rotated since it was cached.
    const second = await this.#ask(true, 2, signal);
    if (isCredentialRefusal(second.reply)) throw new CredentialsRefusedError();
    return this.#accept(second);
  }

  async #ask(afresh: boolean, attempt: number, signal: AbortSignal): Promise<Answer> {
    const { credentials, form, clock, send } = this.#parts;
    const request = toTokenRequest(await credentials({ afresh }), form);
    const sentAt = clock.now();
    return { sentAt, reply: await send(request, attempt, signal) };
  }

  #accept({ sentAt, reply }: Answer): Token {
    if (reply.status >= 300) throw toRefusal('token', reply, this.#parts.clock.now());
    const parsed = tokenSchema.safeParse(parseBody('token', reply), inEnglish);
    if (!parsed.success) throw new UnexpectedResponseError('token', problemsOf(parsed.error));
    const lifeMs = Math.min(parsed.data.expires_in * 1000, MAX_LIFE_MS);
    this.#token = {
      value: parsed.data.access_token,
      // Counted from the sending: the answer's way back is part of the token's life.
      usableUntil: sentAt.add({ milliseconds: Math.max(lifeMs - MARGIN_MS, lifeMs / 2) }),
    };
    return this.#token;
  }
}

interface Answer {
  readonly sentAt: Temporal.Instant;
  readonly reply: HttpReply;
}

/** 401 is documented; RFC 6749 (5.2) lets a server say the same with 400. */
function isCredentialRefusal(reply: HttpReply): boolean {
  return reply.status === 401 || (reply.status === 400 && errorCode(reply) === 'invalid_client');
}

function toTokenRequest(credentials: Credentials, form: TokenRequestForm): HttpRequest {
  const { clientId: client_id, clientSecret: client_secret } = credentials;
  const grant = { grant_type: 'client_credentials' };
  const post = { kind: 'token', method: 'POST', path: '/oauth/token' } as const;
  const formEncoded = { 'content-type': 'application/x-www-form-urlencoded' };
  if (form === 'json') {
    return {
      ...post,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...grant, client_id, client_secret }),
    };
  }
  if (form === 'basic') {
    // RFC 6749, 2.3.1: each is form-encoded first, so that a colon in the ID stays unambiguous.
    const pair = `${formEncode(client_id)}:${formEncode(client_secret)}`;
    return {
      ...post,
      headers: { ...formEncoded, authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
      body: new URLSearchParams(grant).toString(),
    };
  }
  return {
    ...post,
    headers: formEncoded,
    body: new URLSearchParams({ ...grant, client_id, client_secret }).toString(),
  };
}

function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice('='.length);
}
