import * as z from 'zod';
import type { NotifierError } from '../../lambda/errors.ts';
import { errorCode } from '../../lambda/partner/api.ts';
import { PartnerError } from '../../lambda/partner/errors.ts';
import {
  type Credentials,
  type TokenRequestForm,
  toTokenRequest,
} from '../../lambda/partner/token.ts';
import type { HttpReply, HttpRequest } from '../../lambda/partner/transport.ts';
import { CredentialsFileRefusedError } from './errors.ts';
import { toAnswer } from './http-answer.ts';

/** The answer to a token request in one of the forms of docs/partner.md, 4.1. */
export interface Grant {
  readonly form: TokenRequestForm;
  readonly status: number;
  /** The body as it came. It holds the token, and is never shown. */
  readonly body: unknown;
  readonly token: string | undefined;
  /** Why there is no token. */
  readonly refusal?: NotifierError;
  /**
   * How the server reads HTTP Basic credentials: form-decoded (RFC 6749, 2.3.1) or verbatim. Undefined for the other
   * forms, and if both readings are the same for these credentials.
   */
  readonly basic?: 'form-decoded' | 'verbatim';
}

type Send = (request: HttpRequest) => Promise<HttpReply>;

const tokenSchema = z.looseObject({ access_token: z.string().regex(/^[\x21-\x7e]+$/) });

/** @throws {PartnerError} {@link CredentialsFileRefusedError} if no form gives a token */
export async function requestGrants(
  forms: readonly TokenRequestForm[],
  credentials: Credentials,
  send: Send,
): Promise<readonly Grant[]> {
  const grants: Grant[] = [];
  for (const form of forms) grants.push(await requestGrant(form, credentials, send));
  const [first] = grants;
  if (first?.refusal && grants.every(({ token }) => token === undefined)) throw first.refusal;
  return grants;
}

/** @throws {PartnerError} if there is no answer */
export async function requestGrant(
  form: TokenRequestForm,
  credentials: Credentials,
  send: Send,
): Promise<Grant> {
  const grant = toGrant(form, await send(toTokenRequest(credentials, form)));
  if (form !== 'basic') return grant;
  const { clientId, clientSecret } = credentials;
  const verbatim = `${clientId}:${clientSecret}`;
  // Both kinds of server read these characters alike, since form-encoding does not change them.
  if (/^[\w.*-]+:[\w.*-]+$/.test(verbatim)) return grant;
  if (grant.token !== undefined) return { ...grant, basic: 'form-decoded' };
  const reply = await send({
    kind: 'token',
    method: 'POST',
    path: '/oauth/token',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(verbatim).toString('base64')}`,
    },
    body: 'grant_type=client_credentials',
  });
  const second = toGrant(form, reply);
  return second.token === undefined ? grant : { ...second, basic: 'verbatim' };
}

function toGrant(form: TokenRequestForm, reply: HttpReply): Grant {
  const { status, body, refusal } = toAnswer('token', reply);
  if (refusal !== undefined) {
    const isOfClient = status === 401 || errorCode(reply) === 'invalid_client';
    const reason = isOfClient ? new CredentialsFileRefusedError() : refusal;
    return { form, status, body, token: undefined, refusal: reason };
  }
  const token = tokenSchema.safeParse(body).data?.access_token;
  if (token !== undefined) return { form, status, body, token };
  const reason = new PartnerError('unexpected-response', 'token', ['no access token']);
  return { form, status, body, token, refusal: reason };
}
