import * as z from 'zod';
import { problemsOf } from '../../../lambda/english.ts';
import type { ConformanceCheck, Section } from '../check.ts';
import { unusedId } from '../comparing.ts';
import type { TestedHost } from '../host.ts';
import type { HttpAnswer } from '../http-answer.ts';
import { type CheckVerdict, firstTrouble, mismatch, pass } from '../verdict.ts';

/** Nobody has these credentials. */
const nobody = {
  client_id: 'conformance-suite-no-such-client',
  client_secret: 'conformance-suite-no-such-secret',
};
const grant = { grant_type: 'client_credentials' };

interface Refusal {
  readonly status: number;
  readonly body: z.ZodType;
}

const error = (code: string) => z.looseObject({ error: z.literal(code) });
const invalidClient: Refusal = { status: 401, body: error('invalid_client') };
const unsupportedGrant: Refusal = { status: 400, body: error('unsupported_grant_type') };
const invalidToken: Refusal = {
  status: 401,
  body: z.looseObject({
    error: z.literal('invalid_token'),
    error_description: z.string().min(1),
  }),
};

/** Each round asks again: a mismatch has to be the same in every round. */
function refused(
  refusal: Refusal,
  ask: (host: TestedHost) => Promise<HttpAnswer>,
): ConformanceCheck['run'] {
  return async ({ host }) => {
    const { status, body } = await ask(host);
    if (status !== refusal.status) return mismatch(`status ${refusal.status}`, `status ${status}`);
    const parsed = refusal.body.safeParse(body);
    return parsed.success
      ? pass
      : mismatch('the documented body', problemsOf(parsed.error).join('; '));
  };
}

const each =
  (...runs: readonly ConformanceCheck['run'][]): ConformanceCheck['run'] =>
  async (samples) => {
    const verdicts: CheckVerdict[] = [];
    for (const run of runs) verdicts.push(await run(samples));
    return firstTrouble(verdicts);
  };

export const refusals: Section = {
  id: '7',
  title: 'Errors',
  checks: [
    {
      name: 'a wrong client ID or secret gives 401 invalid_client',
      run: each(
        refused(invalidClient, (host) => host.tokenRequest({ ...grant, ...nobody })),
        refused(invalidClient, (host) =>
          host.tokenRequest({ ...grant, ...nobody, client_id: host.clientFields.client_id }),
        ),
      ),
    },
    {
      name: 'a missing or unsupported grant_type gives 400 unsupported_grant_type',
      run: each(
        refused(unsupportedGrant, (host) => host.tokenRequest(host.clientFields)),
        refused(unsupportedGrant, (host) =>
          host.tokenRequest({ ...host.clientFields, grant_type: 'conformance_suite' }),
        ),
      ),
    },
    {
      name: 'a missing token gives 401 invalid_token',
      run: each(
        refused(invalidToken, (host) => host.withAuthorization(undefined)),
        refused(invalidToken, (host) => host.withAuthorization(undefined, unusedId)),
      ),
    },
    {
      name: 'a malformed or unknown token gives 401 invalid_token',
      run: each(
        refused(invalidToken, (host) => host.withAuthorization('conformance-suite')),
        refused(invalidToken, (host) => host.withAuthorization('Bearer conformance-suite')),
      ),
    },
    {
      name: 'an unknown id gives 404',
      run: async (samples) => {
        const { status } = await samples.record(unusedId);
        return status === 404 ? pass : mismatch('status 404', `status ${status}`);
      },
    },
    {
      name: 'invalid sort, order and oversize page never produce errors',
      run: async (samples) => {
        const answers = {
          'page=500': await samples.answer({ page: '500' }),
          'sort=bogus': await samples.answer({ page: '100', sort: 'bogus', order: 'ASC' }),
          'order=sideways': await samples.answer({
            page: '100',
            sort: 'certified_on',
            order: 'sideways',
          }),
        };
        return firstTrouble(
          Object.entries(answers).map(([what, { status }]) =>
            status === 200 ? pass : mismatch('status 200', `${what}: status ${status}`),
          ),
        );
      },
    },
  ],
};
