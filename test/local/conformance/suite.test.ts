import { describe, expect, it } from 'vitest';
import { CredentialsFileRefusedError } from '../../../local/conformance/errors.ts';
import { exitCode } from '../../../local/conformance/suite.ts';
import type { FaultOrder, SandboxOptions } from '../../../local/partner-sandbox/index.ts';
import { allForms, answerTo, check, checksThat, sandboxWith, sectionsThat } from './stage.ts';

type Row = [
  ...[string, SandboxOptions, code: 0 | 1 | 2, fail: unknown, undecided: unknown],
  ...days: string[],
];

const credentials = { clientId: 'a:b +%', clientSecret: 'pä&=ss w:rd%2B' };
const moving: SandboxOptions = { unstableTies: true, backdated: 0.5 };
const wrong: SandboxOptions = {
  churn: 0.5,
  unstableTies: true,
  deviations: ['cap-of-200', 'self-entry-other-id', 'part-id-accepted'],
};
const proven: unknown = expect.arrayContaining(['2.3', '4.2', '4.3', '8']);
const onEachRecord = (status: number): FaultOrder => ({
  kind: 'server-error',
  status,
  on: 'record',
  times: 'always',
});
const passing: readonly FaultOrder[] = [
  { kind: 'server-error', times: 2, after: 3 },
  { kind: 'too-many-requests', retryAfter: 0, after: 9 },
  { kind: 'reset-mid-body', after: 12 },
  { kind: 'unauthorized', after: 15 },
];
const withoutRecords = ['2.2', '2.3', '2.4', '3', '4.2', '4.3', '8'];
const anything: unknown = expect.any(Array);
const small: SandboxOptions = { records: 3, timeZone: 'UTC' };
const few: unknown = expect.arrayContaining(['8']);

// deviations.test.ts has the check that catches each deviation.
it.each<Row>([
  ['follows the document', {}, 0, [], []],
  ['has one assessment a page', { records: 5000, seed: 7, timeZone: 'America/Chicago' }, 0, [], []],
  ['is in another time zone', { seed: 11, timeZone: 'Pacific/Auckland' }, 0, [], anything],
  ['has further fields', { seed: 12, extraFields: true, clockSkew: 90 }, 0, [], anything],
  ['sorts by family names', { seed: 13, userNameOrder: 'last_name' }, 0, [], anything],
  ['ended in 2019', { seed: 14, records: 3000, until: '2019-03-10' }, 0, [], anything],
  ['has odd credentials', { seed: 15, credentials }, 0, [], anything],
  ['is empty', { records: 0 }, 0, [], withoutRecords],
  ...[1, 2, 3, 4].map((seed): Row => ['has three records', { records: 3, seed }, 0, [], few]),
  ['moves', { ...moving, seed: 21, churn: 1, records: 300 }, 0, [], anything],
  ['moves and is small', { ...moving, seed: 22, churn: 1, records: 40 }, 0, [], anything],
  ['moves at times', { ...moving, seed: 23, churn: 0.3, records: 300 }, 0, [], anything],
  ['grows', { ...moving, seed: 24, churn: 0.6, records: 120, certifyEvery: 10 }, 0, [], anything],
  ['moves, and is wrong in single answers', wrong, 1, proven, anything],
  ['has placeholders', small, 0, [], anything, ...Array(5).fill('0001-01-01'), '2999-12-31'],
  ['ends the calendar', small, 0, [], anything, ...Array(5).fill('9999-12-31')],
  ['has its ends', small, 0, [], anything, ...Array(5).fill('9999-12-31'), '0001-01-01'],
  ['has trouble that passes', { records: 120, faults: passing }, 0, [], []],
  ['has trouble that stays', { records: 120, faults: [onEachRecord(503)] }, 2, [], ['4.3', '7']],
  [
    'refuses some requests only',
    { records: 120, faults: [onEachRecord(500)] },
    1,
    ['4.3', '7'],
    [],
  ],
])('a host that %s is judged rightly: %o', async (_, options, code, fail, undecided, ...days) => {
  const { url, credentials, requests, world } = await sandboxWith(options);
  for (const certified_on of days) world.add({ certified_on });
  const report = await check({ url, credentials });
  expect({
    code: exitCode(report),
    fail: sectionsThat(report, 'fail'),
    undecided: sectionsThat(report, 'cannot tell'),
  }).toEqual({ code, fail, undecided });
  expect(report.requests).toBe(requests.length);
  expect(requests.length).toBeLessThanOrEqual(code === 0 && !options.churn ? 120 : 199);
  const asked = requests.map(({ path }) => decodeURIComponent(path));
  expect(asked.filter((path) => /_date\]=(?!(?!0000)\d{4}-)/.test(path))).toEqual([]);
  const written = requests.filter(({ method }) => method !== 'GET');
  expect(new Set(written.map(({ path }) => path))).toEqual(new Set(['/oauth/token']));
});

it.each(allForms)('a host passes with the token request as %s alone', async (form) => {
  const report = await check(await sandboxWith({ records: 250, seed: 3 }), { forms: [form] });
  expect(checksThat(report, 'fail')).toEqual([]);
  expect(checksThat(report, 'cannot tell')).toHaveLength(2);
  expect(exitCode(report)).toBe(0);
});

it('trouble without end, at a host that is also wrong, is given up after 199 requests', async () => {
  const sandbox = await sandboxWith({
    deviations: ['count-after-paging', 'start-date-exclusive', 'scope-403', 'invalid-token-403'],
    faults: [{ kind: 'server-error', status: 503, probability: 0.5, after: 5, times: 'always' }],
  });
  const report = await check(sandbox);
  expect([sandbox.requests.length, report.requests]).toEqual([199, 199]);
  expect(exitCode(report)).toBe(1);
});

it('wrong credentials end the run, with no more than one attempt for each form', async () => {
  const { url, credentials, requests } = await sandboxWith();
  const wrong = { ...credentials, clientSecret: 'guessed-in-vain' };
  await expect(check({ url, credentials: wrong })).rejects.toThrow(CredentialsFileRefusedError);
  expect(requests).toHaveLength(allForms.length);
});

it('an integration without organizations ends the run', async () => {
  const sandbox = await sandboxWith();
  sandbox.world.setScope({ organization_ids: [] });
  await expect(check(sandbox)).rejects.toThrow(
    expect.objectContaining({ code: 'not-provisioned' }),
  );
});

describe('where the document is silent, the suite reports of this host', () => {
  it('all observations of a quiet host', async () => {
    const report = await check(
      await sandboxWith({ credentials: { clientId: 'a:b', clientSecret: 'c d' } }),
    );
    expect(
      Object.fromEntries(report.observations.map((each) => [each.question, each.answer])),
    ).toMatchInlineSnapshot(`
      {
        "Are ties stable from one request to the next?": "yes, in 3 of 3 requests (which is no promise)",
        "Do day bounds include both ends?": "yes, both: 6 records of 2025-12-12 count twice",
        "Does an earlier token live on when another is issued?": "yes",
        "How are HTTP Basic credentials read?": "form-decoded (RFC 6749, 2.3.1), as the client sends them",
        "How far is the host's clock ahead?": "it agrees with this one",
        "Is count the sum of its days?": "yes: 5 ranges sum to 400",
        "Is there a rate-limit header?": "none in any answer",
        "What does a negative offset do?": "status 200 with 5 rows; meta says page 5, offset 0",
        "What does a negative page do?": "status 200 with 50 rows; meta says page 50, offset 0",
        "What does page=0 do?": "status 200 with 50 rows; meta says page 50, offset 0",
        "What does user_name compare?": "as far as three pages show: name in English collation",
        "Which fields does the document not name?": "none",
      }
    `);
  });

  it('the header with which it asked for a pause', async () => {
    const report = await check(await sandboxWith({ records: 120, faults: passing }));
    expect(answerTo(report, /rate-limit/)).toBe('retry-after');
  });
});
