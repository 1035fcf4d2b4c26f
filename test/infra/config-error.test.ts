import { describe, expect, it } from 'vitest';
import { problemsOf, queue, withDistrict, withFilter, withQueue } from './config/settings.ts';

describe('a credential pasted in place of a name', () => {
  const generated = ['q7Zt0pXw93LmVb2KcYd8Hs5RfNg1Ju6T', '3f9c1b7e52d44a869e0b7c1d2a3b4c5d'];
  it.each(
    generated.flatMap((secret) => [
      ['secretName', withDistrict({ secretName: secret }), secret],
      [
        'integration name',
        withDistrict({ name: `a${secret.toLowerCase()}` }),
        secret.toLowerCase(),
      ],
      ['stackName', { ...withDistrict({}), stackName: `S${secret}` }, secret],
      ['tag key', { ...withDistrict({}), tags: { [secret]: 'x' } }, secret],
      ['assessment name', withFilter({ assessments: [secret] }), secret],
    ]),
  )('is refused as %s and not repeated', (_, input, secret) => {
    const problems = problemsOf(input);
    expect(problems).toEqual([expect.stringContaining('never a credential')]);
    expect(problems.join()).not.toContain(secret);
  });

  // These are invented, and split so that scanners for leaked credentials ignore them.
  const known = [
    ['AKIA', 'EXAMPLEEXAMPLE77'],
    ['eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxIn0', '.c2lnbmF0dXJl'],
    ['client_secret', '=abc'],
    ['gh', 'p_abcdefghijkl'],
  ].map((parts) => parts.join(''));
  it.each(
    [...generated, ...known].flatMap((secret) => [
      ['secretName', withDistrict({ secretName: secret }), secret],
      ['assessment name', withFilter({ assessments: [secret] }), secret],
      ['permissionsBoundary', { ...withDistrict({}), permissionsBoundary: secret }, secret],
      ['tag key', { ...withDistrict({}), tags: { [secret]: 'x' } }, secret],
      // Hexadecimal text may be the hash of a commit.
      ...(/^[0-9a-f]+$/.test(secret)
        ? []
        : [['tag value', { ...withDistrict({}), tags: { team: secret } }, secret] as const]),
    ]),
  )('in a known form is refused as %s and not repeated', (_, input, secret) => {
    const problems = problemsOf(input);
    expect(problems).toEqual([expect.stringContaining('never a credential')]);
    expect(problems.join()).not.toContain(secret);
  });

  const uuid = '3f9c1b7e-52d4-4a86-9e0b-7c1d2a3b4c5d';
  it.each([
    ['alone', uuid],
    ['in upper case', uuid.toUpperCase()],
    ['cut off', uuid.slice(0, -2)],
    ['with a separator at its end', `${uuid}/`],
    ['with another one', `${uuid}_${uuid}`],
  ])('is refused and not repeated as a UUID %s', (_what, secretName) => {
    const problems = problemsOf(withDistrict({ secretName }));
    expect(problems).toEqual([expect.stringContaining('never a credential')]);
    expect(problems.join()).not.toContain('3f9c1b7e');
  });

  it.each([
    '3f9c1b7e52d44a869e0b7c1d2a3b4c5d6e7f8091',
    '3f9c1b7e-52d4-4a86-9e0b-7c1d2a3b4c5d',
    'arn:aws:resource-groups:us-east-1:111122223333:group/a/0b1c2d3e4f5a6b7c8d9e0f1a2b',
    'password rotation: yearly',
  ])('does not exclude the tag value %s', (team) => {
    expect(problemsOf({ ...withDistrict({}), tags: { team } })).toEqual([]);
  });

  it.each([
    'partner/district-b',
    'certification-notifier-NotifierDistrictSecret8F3A21B0-AbC1dE',
    'district2026credentials',
    'prod/2026/partnerCredentials-v2',
    'partner-3f786850-e387-550f-dab8-36ed7e6dc881',
    'dev/3f786850-e387-550f-dab8-36ed7e6dc881/partner',
  ])('does not exclude the name %s', (secretName) => {
    expect(problemsOf(withDistrict({ secretName }))).toEqual([]);
  });
});

describe('text that may be a credential is never repeated', () => {
  // Invented texts in the shapes of secrets.
  const pasted = [
    'q7Zt0pXw93LmVb2KcYd8Hs5RfNg1Ju6T',
    '3f9c1b7e-52d4-4a86-9e0b-7c1d2a3b4c5d',
    '{"client_id":"a","client_secret":"b"}',
    'https://user:pass@partner.example.org',
    'https://partner.example.org?token=abc',
    'x'.repeat(61),
  ];

  it.each(
    pasted.flatMap((secret) => [
      [secret, withDistrict({ name: secret })] as const,
      [secret, withDistrict({ baseUrl: secret })] as const,
      [secret, withDistrict({ timeZone: secret })] as const,
      [secret, withDistrict({ client_secret: secret })] as const,
      [secret, withDistrict({ [secret]: '' })] as const,
      [secret, { ...withDistrict({}), tags: { [`aws:${secret}`]: '' } }] as const,
      [secret, withQueue({ endpoint: secret })] as const,
      [
        secret,
        {
          ...withDistrict({ name: secret }),
          subscriptions: [{ ...queue, filter: { integrations: ['x'] } }],
        },
      ] as const,
      [secret, { integrations: secret }] as const,
    ]),
  )('%s', (secret, input) => {
    const problems = problemsOf(input);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join('\n')).not.toContain(secret);
  });
});
