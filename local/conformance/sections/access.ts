import * as z from 'zod/mini';
import type { Credentials, TokenRequestForm } from '../../../lambda/partner/token.ts';
import type { HttpRequest } from '../../../lambda/partner/transport.ts';
import { answers, fits, must, unusedId } from '../expectations.ts';
import { type Grant, isGranted } from '../host.ts';
import { ask, type Checks, type Next } from '../question.ts';
import { authorized, list, record, tokenRequest } from '../requests.ts';
import { cannotTell, contradiction, mismatch, pass } from '../verdict.ts';

type Grants = readonly Grant[];

const seconds = z.looseObject({ expires_in: z.number() });

/** Also sections 5 and 8. */
export const lifetime = (grants: Grants): Next =>
  grants.filter(isGranted).map(({ form, body }) => {
    const stated = seconds.safeParse(body).data?.expires_in;
    return must(stated === 7200, 'expires_in 7200', `${form}: ${stated ?? 'no number'}`);
  });

const someText = z.string().check(z.minLength(1));
/** Not milliseconds: below the year 5138. */
const unixSeconds = z.int().check(z.positive(), z.maximum(99_999_999_999));

export function tokenResponse(grants: Grants): Checks {
  const has = (field: string, schema: z.ZodMiniType, expected: string): Next =>
    grants.filter(isGranted).map(({ form, body }) => {
      const trouble = (seen: string) => contradiction(expected, `${form}: ${seen}`);
      return fits(z.looseObject({ [field]: schema }), body, trouble);
    });
  return {
    'access_token is a string': has('access_token', someText, 'a string'),
    'token_type is Bearer': has('token_type', z.literal('Bearer'), 'Bearer'),
    'expires_in is 7200': lifetime(grants),
    'created_at is a Unix timestamp in seconds': has('created_at', unixSeconds, 'whole seconds'),
  };
}

const one = list({ page: '1' });

export function tokenRequests(grants: Grants): Checks {
  const gives = (form: TokenRequestForm): Next => {
    const grant = grants.find((grant) => grant.form === form);
    if (grant === undefined) return cannotTell('this form was not to be tried');
    if (!isGranted(grant)) {
      const other = grants.find(isGranted)?.form;
      const seen = `status ${grant.status} without one, while the ${other} form gives one`;
      return mismatch('a token', seen);
    }
    return ask(authorized(one, `Bearer ${grant.token}`), ({ status }) => {
      // A later token may have ended this one, which no section forbids.
      if (status === 401) return cannotTell('the token was no longer accepted');
      return status === 200 ? pass : mismatch('a token that opens the list', `status ${status}`);
    });
  };
  return {
    'form parameters give a token': gives('form'),
    'HTTP Basic gives a token': gives('basic'),
    'a JSON body gives a token': gives('json'),
  };
}

export const authentication = (grants: Grants): Checks => ({
  'a token in the Authorization header opens the list': answers(200, list({})),
  'a token lives for two hours': lifetime(grants),
});

/** Mismatches, so that they have to be the same in every round: a gateway may answer, too. */
const refusal =
  (status: number, error: string, fields: z.core.$ZodShape = {}) =>
  (...requests: readonly HttpRequest[]): Next =>
    requests.map((request) =>
      ask(request, (answer) => {
        if (answer.status !== status)
          return mismatch(`status ${status}`, `status ${answer.status}`);
        const body = z.looseObject({ error: z.literal(error), ...fields });
        return fits(body, answer.body, (seen) => mismatch('the documented body', seen));
      }),
    );

const invalidClient = refusal(401, 'invalid_client');
const unsupportedGrant = refusal(400, 'unsupported_grant_type');
const invalidToken = refusal(401, 'invalid_token', { error_description: someText });

/** Nobody has these credentials. */
const nobody = {
  grant_type: 'client_credentials',
  client_id: 'conformance-suite-no-such-client',
  client_secret: 'conformance-suite-no-such-secret',
};

export function errors({ clientId: client_id, clientSecret: client_secret }: Credentials): Checks {
  const client = { client_id, client_secret };
  const odd = { sort: 'certified_on', order: 'sideways', page: '100' };
  return {
    'a wrong client ID or secret gives 401 invalid_client': invalidClient(
      tokenRequest(nobody),
      tokenRequest({ ...nobody, client_id }),
    ),
    'a missing or unsupported grant_type gives 400 unsupported_grant_type': unsupportedGrant(
      tokenRequest(client),
      tokenRequest({ ...client, grant_type: 'conformance_suite' }),
    ),
    'a missing token gives 401 invalid_token': invalidToken(
      authorized(one),
      authorized(record(unusedId)),
    ),
    'a malformed or unknown token gives 401 invalid_token': invalidToken(
      authorized(one, 'conformance-suite'),
      authorized(one, 'Bearer conformance-suite'),
    ),
    'an unknown id gives 404': answers(404, record(unusedId)),
    'invalid sort, order and oversize page never produce errors': [
      answers(200, list({ page: '500' }), 'page=500: '),
      answers(200, list({ sort: 'bogus', order: 'ASC', page: '100' }), 'sort=bogus: '),
      answers(200, list(odd), 'order=sideways: '),
    ],
  };
}
