import * as z from 'zod';
import { problemsOf } from '../../../lambda/english.ts';
import type { ConformanceCheck, Section } from '../check.ts';
import type { Grant } from '../grants.ts';
import type { Samples } from '../samples.ts';
import { type CheckVerdict, cannotTell, contradiction, firstTrouble, pass } from '../verdict.ts';

function ofEachGrant(samples: Samples, judge: (grant: Grant) => CheckVerdict): CheckVerdict {
  const granted = samples.host.grants.filter(({ token }) => token !== undefined);
  if (granted.length === 0) return cannotTell('no token was issued');
  return firstTrouble(granted.map(judge));
}

function field(name: string, schema: z.ZodType, expected: string): ConformanceCheck['run'] {
  const answer = z.looseObject({ [name]: schema });
  return async (samples) =>
    ofEachGrant(samples, ({ form, body }) => {
      const { error } = answer.safeParse(body);
      return error ? contradiction(expected, `${form}: ${problemsOf(error).join('; ')}`) : pass;
    });
}

const seconds = z.looseObject({ expires_in: z.number() });

/** Also sections 5 and 8. */
export const lifetime: ConformanceCheck['run'] = async (samples) =>
  ofEachGrant(samples, ({ form, body }) => {
    const stated = seconds.safeParse(body).data?.expires_in;
    return stated === 7200
      ? pass
      : contradiction('expires_in 7200', `${form}: ${stated ?? 'no number'}`);
  });

/** Unix seconds, not milliseconds: below the year 5138. */
const unixSeconds = z.int().positive().max(99_999_999_999);

export const tokenResponse: Section = {
  id: '2.1',
  title: 'Access token response',
  checks: [
    {
      name: 'access_token is a string',
      run: field('access_token', z.string().min(1), 'a string'),
    },
    { name: 'token_type is Bearer', run: field('token_type', z.literal('Bearer'), 'Bearer') },
    { name: 'expires_in is 7200', run: lifetime },
    {
      name: 'created_at is a Unix timestamp in seconds',
      run: field('created_at', unixSeconds, 'whole seconds'),
    },
  ],
};
