import * as z from 'zod/mini';
import type { Credentials, TokenRequestForm } from '../../../lambda/partner/token.ts';
import type { HttpRequest } from '../../../lambda/partner/transport.ts';
import { answers, fits, must, unusedId } from '../expectations.ts';
import type { Grant } from '../host.ts';
import { ask, type Next, type Section } from '../question.ts';
import { authorized, list, record, tokenRequest } from '../requests.ts';
import { cannotTell, contradiction, mismatch, pass } from '../verdict.ts';

type Grants = readonly Grant[];

const field = (grants: Grants, name: string, schema: z.ZodMiniType, expected: string): Next =>
  grants
    .filter((grant) => 'token' in grant)
    .map(({ form, body }) =>
      fits(z.looseObject({ [name]: schema }), body, (seen) =>
        contradiction(expected, `${form}: ${seen}`),
      ),
    );

const seconds = z.looseObject({ expires_in: z.number() });

/** Also sections 5 and 8. */
export const lifetime = (grants: Grants): Next =>
  grants
    .filter((grant) => 'token' in grant)
    .map(({ form, body }) => {
      const stated = seconds.safeParse(body).data?.expires_in;
      return must(stated === 7200, 'expires_in 7200', `${form}: ${stated ?? 'no number'}`);
    });

const someText = z.string().check(z.minLength(1));
/** Not milliseconds: below the year 5138. */
const unixSeconds = z.int().check(z.positive(), z.maximum(99_999_999_999));

export const tokenResponse = (grants: Grants): Section => ({
  id: '2.1',
  title: 'Access token response',
  checks: {
    'access_token is a string': field(grants, 'access_token', someText, 'a string'),
    'token_type is Bearer': field(grants, 'token_type', z.literal('Bearer'), 'Bearer'),
    'expires_in is 7200': lifetime(grants),
    'created_at is a Unix timestamp in seconds': field(
      grants,
      'created_at',
      unixSeconds,
      'whole seconds',
    ),
  },
});

const one = list({ page: '1' });

function gives(grants: Grants, form: TokenRequestForm): Next {
  const grant = grants.find((grant) => grant.form === form);
  if (grant === undefined) return cannotTell('this form was not to be tried');
  if ('token' in grant) {
    return ask(authorized(one, `Bearer ${grant.token}`), ({ status }) => {
      // A later token may have ended this one, which no section forbids.
      if (status === 401) return cannotTell('the token was no longer accepted');
      return status === 200 ? pass : mismatch('a token that opens the list', `status ${status}`);
    });
  }
  const other = grants.find((grant) => 'token' in grant)?.form;
  const seen = `status ${grant.status} without one, while the ${other} form gives one`;
  return mismatch('a token', seen);
}

export const tokenEndpoint = (grants: Grants): Section => ({
  id: '4.1',
  title: 'POST /oauth/token',
  checks: {
    'form parameters give a token': gives(grants, 'form'),
    'HTTP Basic gives a token': gives(grants, 'basic'),
    'a JSON body gives a token': gives(grants, 'json'),
  },
});

export const authentication = (grants: Grants): Section => ({
  id: '5',
  title: 'Authentication',
  checks: {
    'a token in the Authorization header opens the list': answers(200, list({})),
    'a token lives for two hours': lifetime(grants),
  },
});

const error = (code: string) => z.looseObject({ error: z.literal(code) });
const invalidToken = z.extend(error('invalid_token'), { error_description: someText });

/** Mismatches, so that they have to be the same in every round: a gateway may answer, too. */
const refused = (status: number, body: z.ZodMiniType, ...requests: readonly HttpRequest[]): Next =>
  requests.map((request) =>
    ask(request, (answer) =>
      answer.status === status
        ? fits(body, answer.body, (seen) => mismatch('the documented body', seen))
        : mismatch(`status ${status}`, `status ${answer.status}`),
    ),
  );

const grant = { grant_type: 'client_credentials' };
/** Nobody has these credentials. */
const nobody = {
  ...grant,
  client_id: 'conformance-suite-no-such-client',
  client_secret: 'conformance-suite-no-such-secret',
};

export function errors({ clientId: client_id, clientSecret: client_secret }: Credentials): Section {
  const client = { client_id, client_secret };
  return {
    id: '7',
    title: 'Errors',
    checks: {
      'a wrong client ID or secret gives 401 invalid_client': refused(
        401,
        error('invalid_client'),
        tokenRequest(nobody),
        tokenRequest({ ...nobody, client_id }),
      ),
      'a missing or unsupported grant_type gives 400 unsupported_grant_type': refused(
        400,
        error('unsupported_grant_type'),
        tokenRequest(client),
        tokenRequest({ ...client, grant_type: 'conformance_suite' }),
      ),
      'a missing token gives 401 invalid_token': refused(
        401,
        invalidToken,
        authorized(one),
        authorized(record(unusedId)),
      ),
      'a malformed or unknown token gives 401 invalid_token': refused(
        401,
        invalidToken,
        authorized(one, 'conformance-suite'),
        authorized(one, 'Bearer conformance-suite'),
      ),
      'an unknown id gives 404': answers(404, record(unusedId)),
      'invalid sort, order and oversize page never produce errors': [
        answers(200, list({ page: '500' }), 'page=500: '),
        answers(200, list({ sort: 'bogus', order: 'ASC', page: '100' }), 'sort=bogus: '),
        answers(
          200,
          list({ sort: 'certified_on', order: 'sideways', page: '100' }),
          'order=sideways: ',
        ),
      ],
    },
  };
}
