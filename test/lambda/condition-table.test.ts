import { describe, expect, it } from 'vitest';
import { adviceOn, conditions, noticed } from '../../lambda/condition-table.ts';
import { accessNames } from '../../lambda/decisions/conditions.ts';
import { reachOf } from '../../lambda/errors.ts';
import { meanings, PartnerError } from '../../lambda/partner/errors.ts';
import * as secretErrors from '../../lambda/partner/secret.ts';

const entries = Object.entries(conditions());
/** Some use this project as a package, and have their own configuration file. */
const ofCheckout = /npm run|notifier\.config|docs\/|conformance/;

describe('advice', () => {
  it.each(entries)('on the condition %s needs no checkout of this project', (_, entry) => {
    expect(`${entry.toDo} ${entry.command?.ops}`).not.toMatch(ofCheckout);
  });

  it.each(Object.entries(meanings))('of the partner client fits any program: %s', (_, meaning) => {
    expect(meaning.whatToDo).not.toMatch(ofCheckout);
    expect(meaning.whatToDo).not.toMatch(/the poll function|\bstack\b/);
  });
});

it.each([
  [{ at: '--stack prod', integration: 'a' }, 'resume --stack prod --integration a'],
  [{ at: '--local', integration: 'a' }, 'resume --local --integration a'],
  [{ at: '--stack prod' }, 'resume --stack prod'],
] as const)("a command is written for the reader's place: %o", (place, typed) => {
  expect(adviceOn(noticed.paused, place)).toMatch(
    new RegExp(`^Resume it .* npx certification-notifier ${typed}$`),
  );
});

it('a failure that stops every tick is a condition of its own, with its fault and its advice', () => {
  const errors = [
    new secretErrors.CredentialsNotSetError('a secret'),
    new secretErrors.CredentialsMalformedError('a secret', []),
    new secretErrors.SecretGoneError('a secret', {}),
    new secretErrors.SecretUnreadableError('a secret', {}),
    new PartnerError('credentials-refused', 'list'),
    new PartnerError('unsupported-grant', 'list'),
    new PartnerError('token-refused-twice', 'list'),
    new PartnerError('not-provisioned', 'list'),
  ];
  expect(errors.map(({ code }) => code)).toEqual([...accessNames]);
  const all: Record<string, (typeof entries)[number][1]> = conditions();
  for (const error of errors) {
    expect(reachOf(error)).toBe('access');
    expect(all[error.code]).toMatchObject({ fault: error.fault, toDo: error.whatToDo });
  }
});

it.each(['rate-limited', 'pace-spent'] as const)(
  '%s, which ends with the minute, first advises to wait',
  (code) => {
    const { whatToDo } = new PartnerError(code, 'list');
    expect(whatToDo).toMatch(/^Wait a minute, /);
    expect(whatToDo).toContain(noticed['rate-limited'].toDo);
  },
);
