import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { hash } from './random.ts';
import type { Rules, SandboxAnswer } from './rules.ts';
import type { Switches } from './switches.ts';

export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

interface TokenRequest {
  readonly grantType: string | undefined;
  readonly credentials: Credentials | undefined;
}

/** The parts of an HTTP request that the access check needs. */
export interface AuthorizedRequest {
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: string;
}

/**
 * The integration's credentials and the tokens issued for them (sections 4.1 and 5). No token is stored. Each holds its
 * end and is signed with the client secret, so another process with the same secret accepts it, too.
 */
export class TokenIssuer {
  readonly #seed: number;
  readonly #chosen: Credentials | undefined;
  #rotation = 0;
  #issued = 0;

  /** @param chosen in place of credentials from the seed, until the first rotation */
  constructor(seed: number, chosen?: Credentials) {
    this.#seed = seed;
    this.#chosen = chosen;
  }

  /** Made from the seed, and clearly invented. */
  get credentials(): Credentials {
    if (this.#chosen !== undefined && this.#rotation === 0) return this.#chosen;
    const tail = hash(`secret/${this.#seed}/${this.#rotation}`).toString(36);
    return {
      clientId: this.#chosen?.clientId ?? `sandbox-client-${this.#seed}`,
      clientSecret: `sandbox-secret-${this.#seed}-${tail}`,
    };
  }

  /** Section 5, rule 7: tokens end with the secret that they were issued for. */
  rotateSecret(): Credentials {
    this.#rotation++;
    return this.credentials;
  }

  /** As if somebody else had asked for a token, where that ends all earlier ones. */
  endTokens(): void {
    this.#issued++;
  }

  /** Section 4.1. `now` is the server's clock in epoch milliseconds. */
  issue(request: AuthorizedRequest, rules: Rules, now: number, switches: Switches): SandboxAnswer {
    const lifetime = switches.tokenLifetime;
    const { grantType, credentials } = readTokenRequest(request, switches.basicVerbatim);
    if (grantType !== 'client_credentials') return rules.unsupportedGrantType;
    const { clientId, clientSecret } = this.credentials;
    if (
      credentials === undefined ||
      credentials.clientId !== clientId ||
      !equal(credentials.clientSecret, clientSecret)
    ) {
      return rules.invalidClient;
    }
    return {
      status: 200,
      body: {
        access_token: this.#signed(
          `${++this.#issued}-${Math.floor(now)}-${Math.floor(now + lifetime * 1000)}`,
        ),
        token_type: rules.tokenType,
        expires_in: rules.expiresIn(lifetime),
        created_at: Math.floor(now / 1000),
      },
      headers: { 'Cache-Control': 'no-store' },
    };
  }

  /** Section 5, rule 4. */
  admits(authorization: string | undefined, now: number, switches: Switches): boolean {
    const [, token = '', claim = ''] =
      /^Bearer +(sandbox-token-(\d+-\d+-\d+)-\S+) *$/i.exec(authorization ?? '') ?? [];
    const [number = 0, begin = 0, end = 0] = claim.split('-').map(Number);
    const isLast = number === this.#issued || !switches.oneToken;
    const isKnown = now >= begin + switches.tokenDelay * 1000;
    return equal(token, this.#signed(claim)) && isKnown && now < end && isLast;
  }

  /** @param claim a number of its own, the begin and the end in epoch milliseconds */
  #signed(claim: string): string {
    const { clientSecret } = this.credentials;
    return `sandbox-token-${claim}-${createHmac('sha256', clientSecret).update(claim).digest('base64url')}`;
  }
}

function equal(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A missing or unreadable value counts as not sent. */
const sent = z.string().optional().catch(undefined);
const tokenFields = z
  .object({ grant_type: sent, client_id: sent, client_secret: sent })
  .catch({ grant_type: undefined, client_id: undefined, client_secret: undefined });

/**
 * Reads any of the three forms. Credentials in the query are not looked at. Basic credentials count before those in the
 * body. A wrong grant type is reported before wrong credentials.
 */
function readTokenRequest(
  { authorization, contentType, body }: AuthorizedRequest,
  verbatim: boolean,
): TokenRequest {
  const fields = tokenFields.parse(
    readBody(contentType?.split(';')[0]?.trim().toLowerCase(), body),
  );
  const { grant_type: grantType, client_id: clientId, client_secret: clientSecret } = fields;
  if (authorization !== undefined)
    return { grantType, credentials: basic(authorization, verbatim) };
  const isComplete = clientId !== undefined && clientSecret !== undefined;
  return { grantType, credentials: isComplete ? { clientId, clientSecret } : undefined };
}

function readBody(mediaType: string | undefined, body: string): unknown {
  if (mediaType === 'application/x-www-form-urlencoded')
    return Object.fromEntries(new URLSearchParams(body));
  if (mediaType !== 'application/json') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** RFC 7617, with id and secret form-urlencoded as RFC 6749, 2.3.1 requires. */
function basic(authorization: string, verbatim: boolean): Credentials | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/_=-]+) *$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  try {
    const [clientId, clientSecret] = [pair.slice(0, colon), pair.slice(colon + 1)].map((part) =>
      verbatim ? part : decodeURIComponent(part.replaceAll('+', ' ')),
    );
    return clientId === undefined || clientSecret === undefined
      ? undefined
      : { clientId, clientSecret };
  } catch {
    // A stray percent sign, which no credential of the client has.
    return undefined;
  }
}
