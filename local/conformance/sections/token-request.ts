import type { TokenRequestForm } from '../../../lambda/partner/token.ts';
import type { ConformanceCheck, Section } from '../check.ts';
import { cannotTell, mismatch, pass } from '../verdict.ts';

function issues(form: TokenRequestForm): ConformanceCheck['run'] {
  return async ({ host }) => {
    const grant = host.grants.find((grant) => grant.form === form);
    if (grant === undefined) return cannotTell('this form was not to be tried');
    if (grant.token === undefined) {
      const other = host.grants.find(({ token }) => token !== undefined)?.form;
      return mismatch(
        'a token',
        `status ${grant.status} without one, while the ${other} form gives one`,
      );
    }
    const { status } = await host.withAuthorization(`Bearer ${grant.token}`);
    // A later token may have ended this one, which no section forbids.
    if (status === 401) return cannotTell('the token was no longer accepted');
    return status === 200 ? pass : mismatch('a token that opens the list', `status ${status}`);
  };
}

export const tokenRequest: Section = {
  id: '4.1',
  title: 'POST /oauth/token',
  checks: [
    { name: 'form parameters give a token', run: issues('form') },
    { name: 'HTTP Basic gives a token', run: issues('basic') },
    { name: 'a JSON body gives a token', run: issues('json') },
  ],
};
