import { describe, expect, it } from 'vitest';
import { conditionTable } from '../../lambda/condition-table.ts';
import { accessNames, conditionNames } from '../../lambda/detection/conditions.ts';
import { reachOf } from '../../lambda/errors.ts';
import { PartnerError } from '../../lambda/partner/errors.ts';
import * as secretErrors from '../../lambda/partner/secret.ts';

describe.each(conditionNames)('the entry of %s', (name) => {
  const entry = conditionTable[name];

  it('says what it means and what to do', () => {
    expect(entry.means).toMatch(/^[A-Z].*\.$/);
    expect(entry.toDo).toMatch(/^[A-Z].*[.:]$/);
    if (entry.toDo.endsWith(':')) expect(entry.command).toBeDefined();
  });
});

describe('what is in the way of every tick', () => {
  const errors = [
    new secretErrors.CredentialsNotSetError('a secret'),
    new secretErrors.CredentialsMalformedError('a secret', []),
    new secretErrors.SecretUnreadableError('a secret', {}),
    new PartnerError('credentials-refused', 'list'),
    new PartnerError('unsupported-grant', 'list'),
    new PartnerError('token-refused-twice', 'list'),
    new PartnerError('not-provisioned', 'list'),
  ];

  it('is a condition of its own for each error that reaches so far', () => {
    expect(errors.map(({ code }) => code)).toEqual([...accessNames]);
    for (const error of errors) expect(reachOf(error)).toBe('access');
  });
});
