import { afterEach, describe, expect, it } from 'vitest';
import { CredentialsFileRefusedError } from '../../../local/conformance/errors.ts';
import { exitCode } from '../../../local/conformance/suite.ts';
import {
  type PartnerSandbox,
  type SandboxOptions,
  startPartnerSandbox,
} from '../../../local/partner-sandbox/index.ts';
import { allForms, answerTo, check, checksThat, sectionsThat } from './stage.ts';

const started: PartnerSandbox[] = [];

async function sandboxWith(options: SandboxOptions = {}): Promise<PartnerSandbox> {
  const sandbox = await startPartnerSandbox(options);
  started.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  for (const sandbox of started.splice(0)) await sandbox.close();
});

describe('a host that follows the document', () => {
  it('passes each check, in under 200 requests that only read', async () => {
    const sandbox = await sandboxWith();
    const report = await check(sandbox);
    expect(checksThat(report, 'fail')).toEqual([]);
    expect(checksThat(report, 'cannot tell')).toEqual([]);
    expect(exitCode(report)).toBe(0);
    expect(report.requests).toBe(sandbox.requests.length);
    expect(sandbox.requests.length).toBeLessThan(200);
    const written = sandbox.requests.filter(({ method }) => method !== 'GET');
    expect(new Set(written.map(({ method, path }) => `${method} ${path}`))).toEqual(
      new Set(['POST /oauth/token']),
    );
  });

  it('passes each section if a page has room for one assessment only', async () => {
    const report = await check(
      await sandboxWith({ records: 5000, seed: 7, timeZone: 'America/Chicago' }),
    );
    expect(checksThat(report, 'cannot tell')).toEqual([]);
    expect(sectionsThat(report, 'pass')).toHaveLength(report.sections.length);
  });

  it.each(allForms)('passes with the token request as %s alone', async (form) => {
    const sandbox = await sandboxWith({ records: 250, seed: 3 });
    const report = await check(sandbox, { forms: [form] });
    expect(checksThat(report, 'fail')).toEqual([]);
    expect(checksThat(report, 'cannot tell')).toHaveLength(2);
    expect(exitCode(report)).toBe(0);
  });

  it.each([
    { seed: 11, timeZone: 'Pacific/Auckland' },
    { seed: 12, extraFields: true, clockSkew: 90 },
    { seed: 13, userNameOrder: 'last_name' as const },
    { seed: 14, records: 3000, until: '2019-03-10' },
    { seed: 15, credentials: { clientId: 'a:b +%', clientSecret: 'pä&=ss w:rd%2B' } },
  ])('passes with any choice that the document leaves open: %o', async (options) => {
    const report = await check(await sandboxWith(options));
    expect(checksThat(report, 'fail')).toEqual([]);
    expect(exitCode(report)).toBe(0);
  });
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
});

describe('without the needed data', () => {
  it('an empty host fails nothing, and passes nothing that needs a record', async () => {
    const report = await check(await sandboxWith({ records: 0 }));
    expect(exitCode(report)).toBe(0);
    expect(sectionsThat(report, 'fail')).toEqual([]);
    expect(sectionsThat(report, 'cannot tell')).toEqual([
      '2.2',
      '2.3',
      '2.4',
      '3',
      '4.2',
      '4.3',
      '8',
    ]);
    expect(checksThat(report, 'pass').filter((name) => /^(2\.[23]|3|4\.[23]):/.test(name))).toEqual(
      ['4.2: the answer is an object with data and meta', '4.3: an unknown id gives 404'],
    );
  });

  it('a host with three records fails nothing', async () => {
    for (const seed of [1, 2, 3, 4]) {
      const report = await check(await sandboxWith({ records: 3, seed }));
      expect(checksThat(report, 'fail')).toEqual([]);
      expect(sectionsThat(report, 'cannot tell')).toContain('8');
    }
  });
});

describe('a host whose data changes during the checks', () => {
  it.each([
    { seed: 21, churn: 1, records: 300 },
    { seed: 22, churn: 1, records: 40 },
    { seed: 23, churn: 0.3, records: 300 },
    { seed: 24, churn: 0.6, records: 120, certifyEvery: 10 },
  ])('is not accused: %o', async (options) => {
    const sandbox = await sandboxWith({ ...options, unstableTies: true, backdated: 0.5 });
    const report = await check(sandbox);
    expect(checksThat(report, 'fail')).toEqual([]);
    expect(sandbox.requests.length).toBeLessThan(200);
  });

  it('is still caught if one answer proves a contradiction', async () => {
    const sandbox = await sandboxWith({
      churn: 0.5,
      unstableTies: true,
      deviations: ['cap-of-200', 'self-entry-other-id', 'part-id-accepted'],
    });
    const report = await check(sandbox);
    expect(sectionsThat(report, 'fail')).toEqual(
      expect.arrayContaining(['2.3', '4.2', '4.3', '8']),
    );
    expect(sandbox.requests.length).toBeLessThan(200);
  });
});

describe('trouble during a check', () => {
  it('that passes causes another check', async () => {
    const sandbox = await sandboxWith({
      records: 120,
      faults: [
        { kind: 'server-error', times: 2, after: 3 },
        { kind: 'too-many-requests', retryAfter: 0, after: 9 },
        { kind: 'reset-mid-body', after: 12 },
        { kind: 'unauthorized', after: 15 },
      ],
    });
    const report = await check(sandbox);
    expect(checksThat(report, 'fail')).toEqual([]);
    expect(exitCode(report)).toBe(0);
    expect(answerTo(report, /rate-limit/)).toBe('retry-after');
  });

  it('that stays leaves the check undone, and is no contradiction', async () => {
    const report = await check(
      await sandboxWith({
        records: 120,
        faults: [{ kind: 'server-error', status: 503, on: 'record', times: 'always' }],
      }),
    );
    expect(checksThat(report, 'fail')).toEqual([]);
    expect(sectionsThat(report, 'cannot tell')).toContain('4.3');
    expect(exitCode(report)).toBe(2);
  });

  it('without end, at a host that is also wrong, is given up after 199 requests', async () => {
    const sandbox = await sandboxWith({
      deviations: ['count-after-paging', 'start-date-exclusive', 'scope-403', 'invalid-token-403'],
      faults: [{ kind: 'server-error', status: 503, probability: 0.5, after: 5, times: 'always' }],
    });
    const report = await check(sandbox);
    expect(sandbox.requests.length).toBe(199);
    expect(report.requests).toBe(199);
    expect(exitCode(report)).toBe(1);
  });

  it('with its own status for some requests only is a contradiction', async () => {
    const report = await check(
      await sandboxWith({
        records: 120,
        faults: [{ kind: 'server-error', status: 500, on: 'record', times: 'always' }],
      }),
    );
    expect(sectionsThat(report, 'fail')).toContain('4.3');
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
});
