import { expect, it } from 'vitest';
import { problemsOf, queue, withDistrict, withFilter, withQueue } from './config/settings.ts';

const deployed = (settings: object) => ({ ...withDistrict({}), ...settings });
const uuid = '3f9c1b7e-52d4-4a86-9e0b-7c1d2a3b4c5d';
const hexadecimal = uuid.replaceAll('-', '');
const generated = ['q7Zt0pXw93LmVb2KcYd8Hs5RfNg1Ju6T', hexadecimal];
// These are invented, and split so that scanners for leaked credentials ignore them.
const known = [
  ['AKIA', 'EXAMPLEEXAMPLE77'],
  ['eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxIn0', '.c2lnbmF0dXJl'],
  ['client_secret', '=abc'],
  ['gh', 'p_abcdefghijkl'],
].map((parts) => parts.join(''));
const uuids = [uuid, uuid.toUpperCase(), uuid.slice(0, -2), `${uuid}/`, `${uuid}_${uuid}`];
const credentials = [...generated, ...known];

const isNoHash = (secret: string) => secret !== hexadecimal;

const places: readonly [string, config: (value: string) => object, secrets: readonly string[]][] = [
  ['secretName', (secretName) => withDistrict({ secretName }), [...credentials, ...uuids]],
  ['an assessment name', (name) => withFilter({ assessments: [name] }), credentials],
  ['permissionsBoundary', (name) => deployed({ permissionsBoundary: name }), credentials],
  ['a tag key', (key) => deployed({ tags: { [key]: 'x' } }), credentials],
  // Hexadecimal text may be the hash of a commit.
  ['a tag value', (team) => deployed({ tags: { team } }), credentials.filter(isNoHash)],
  [
    "an integration's name",
    (name) => withDistrict({ name }),
    generated.map((secret) => `a${secret.toLowerCase()}`),
  ],
  ['stackName', (stackName) => deployed({ stackName }), generated.map((secret) => `S${secret}`)],
];

it.each(
  places.flatMap(([place, config, secrets]) => secrets.map((one) => [place, one, config] as const)),
)('a credential pasted as %s is refused, and not repeated: %s', (_, secret, config) => {
  const problems = problemsOf(config(secret));
  expect(problems).toEqual([expect.stringContaining('never a credential')]);
  expect(problems.join()).not.toContain(secret.slice(0, 8));
});

it('a tag value may be the hash of a commit, a UUID, an ARN, or a sentence', () => {
  const arn = 'arn:aws:resource-groups:us-east-1:111122223333:group/a/0b1c2d3e4f5a6b7c8d9e0f1a2b';
  const tags = { a: `${hexadecimal}6e7f8091`, b: uuid, c: arn, d: 'password rotation: yearly' };
  expect(problemsOf(deployed({ tags }))).toEqual([]);
});

it.each([
  'partner/district-b',
  'certification-notifier-NotifierDistrictSecret8F3A21B0-AbC1dE',
  'district2026credentials',
  'prod/2026/partnerCredentials-v2',
  'partner-3f786850-e387-550f-dab8-36ed7e6dc881',
  'dev/3f786850-e387-550f-dab8-36ed7e6dc881/partner',
])('the name of a secret may be %s', (secretName) => {
  expect(problemsOf(withDistrict({ secretName }))).toEqual([]);
});

// Invented texts in the shapes of secrets.
it.each([
  'q7Zt0pXw93LmVb2KcYd8Hs5RfNg1Ju6T',
  uuid,
  '{"client_id":"a","client_secret":"b"}',
  'https://user:pass@partner.example.org',
  'https://partner.example.org?token=abc',
  'x'.repeat(61),
])('text that may be a credential is refused anywhere, and not repeated: %s', (secret) => {
  const subscriptions = [{ ...queue, filter: { integrations: ['x'] } }];
  for (const input of [
    withDistrict({ name: secret }),
    withDistrict({ baseUrl: secret }),
    withDistrict({ timeZone: secret }),
    withDistrict({ client_secret: secret }),
    withDistrict({ [secret]: '' }),
    deployed({ tags: { [`aws:${secret}`]: '' } }),
    withQueue({ endpoint: secret }),
    { ...withDistrict({ name: secret }), subscriptions },
    { integrations: secret },
  ]) {
    const problems = problemsOf(input);
    expect(problems).not.toEqual([]);
    expect(problems.join('\n')).not.toContain(secret);
  }
});
