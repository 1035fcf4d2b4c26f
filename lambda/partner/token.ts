import * as z from 'zod/mini';
import { inEnglish, problemsOf } from '../english.ts';
import { errorCode, parseBody, toRefusal } from './api.ts';
import type { ClientParts } from './client.ts';
import { PartnerError } from './errors.ts';
import { type HttpReply, type HttpRequest, type Transport, withTimeLimit } from './transport.ts';

/** Issued by the partner (docs/partner.md, 1). The secret is a password. */
export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** `afresh`: bypass any cache, because the partner has just refused the cached ones. */
export type CredentialSource = (options?: { afresh?: boolean }) => Promise<Credentials>;

/** The three forms of docs/partner.md, 4.1. */
export type TokenRequestForm = 'form' | 'basic' | 'json';

interface Token {
  readonly value: string;
  readonly usableUntilMs: number;
}

/** docs/partner.md, 2.1; `created_at` is the server's clock, and therefore not used. */
const tokenSchema = z.looseObject({
  // Visible ASCII: anything else would break out of, or be refused in, the header.
  access_token: z.string().check(z.regex(/^[\x21-\x7e]+$/)),
  token_type: z.string().check(z.regex(/^bearer$/i)),
  expires_in: z.int().check(z.nonnegative()),
});

/** A token is replaced this long before it expires, or at half of its life if that is later. */
const MARGIN_MS = 60_000;

/**
 * Sends requests with a token, which it caches. It requests one token at a time for all waiting
 * callers. A refused token is replaced, once.
 *
 * @throws {PartnerError} or the credential source's error
 */
export function withToken(
  transport: Transport,
  { credentials, tokenRequest, clock, attemptMs }: ClientParts,
): Transport['send'] {
  let token: Token | undefined;
  let pending: Promise<Token> | undefined;

  async function renew(signal: AbortSignal): Promise<Token> {
    // Once more with the secret as it is now: it may have been rotated since it was cached.
    for (const afresh of [false, true]) {
      const request = toTokenRequest(await credentials({ afresh }), tokenRequest);
      const sentAtMs = clock.now().epochMilliseconds;
      const reply = await transport.send(request, signal);
      if (isCredentialRefusal(reply)) continue;
      if (reply.status >= 300) throw toRefusal('token', reply, clock.now());
      const { data, error } = tokenSchema.safeParse(parseBody('token', reply), inEnglish);
      if (error) throw new PartnerError('unexpected-response', 'token', problemsOf(error));
      const lifeMs = data.expires_in * 1000;
      // Counted from the sending: the answer's way back is part of the token's life.
      const usableUntilMs = sentAtMs + Math.max(lifeMs - MARGIN_MS, lifeMs / 2);
      token = { value: data.access_token, usableUntilMs };
      return token;
    }
    throw new PartnerError('credentials-refused', 'token');
  }

  return async function authorized(request, signal) {
    for (let refusals = 0; refusals < 2; refusals += 1) {
      let used = token;
      if (used === undefined || clock.now().epochMilliseconds >= used.usableUntilMs) {
        const onTimeout = () => new PartnerError('timed-out', 'token', 'attempt');
        // The request serves many callers, so no caller's deadline applies to it.
        pending ??= withTimeLimit(clock, attemptMs, onTimeout, undefined, renew).finally(() => {
          pending = undefined;
        });
        used = await pending;
      }
      const headers = { authorization: `Bearer ${used.value}` };
      const reply = await transport.send({ ...request, headers }, signal);
      if (reply.status !== 401) return reply;
      // A token that has replaced it meanwhile stays.
      if (token === used) token = undefined;
    }
    throw new PartnerError('token-refused-twice', request.kind);
  };
}

/** 401 is documented; RFC 6749 (5.2) lets a server say the same with 400. */
function isCredentialRefusal(reply: HttpReply): boolean {
  return reply.status === 401 || (reply.status === 400 && errorCode(reply) === 'invalid_client');
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
  const pair = Buffer.from(`${formEncode(clientId)}:${formEncode(clientSecret)}`);
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...(form === 'basic' && { authorization: `Basic ${pair.toString('base64')}` }),
  };
  const body = new URLSearchParams(form === 'basic' ? grant : whole).toString();
  return { ...post, headers, body };
}

function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice('='.length);
}
