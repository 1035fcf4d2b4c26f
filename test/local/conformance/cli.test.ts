import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run as conformance } from '../../../local/conformance/run.ts';
import type { PartnerSandbox } from '../../../local/partner-sandbox/index.ts';
import { nobodyThere } from '../../support/nobody-there.ts';
import { RunningProgram } from '../../support/running.ts';
import { sandboxWith } from './stage.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'conformance-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function run(...flags: string[]) {
  const running = new RunningProgram(conformance, flags, { environment: { INIT_CWD: directory } });
  const { exitCode, stdout, stderr } = await running.ended;
  return { code: exitCode, out: stdout, err: stderr };
}

async function runOn(
  { url, credentials: { clientId, clientSecret } }: Pick<PartnerSandbox, 'url' | 'credentials'>,
  ...flags: string[]
) {
  await writeFile(
    join(directory, 'credentials.json'),
    JSON.stringify({ client_id: clientId, client_secret: clientSecret }),
  );
  return await run('--base-url', url, '--credentials', 'credentials.json', ...flags);
}

describe('the exit status', () => {
  it('is 0 for a host that follows the document, with a table', async () => {
    const { code, out, err } = await runOn(await sandboxWith({ records: 250 }));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^2\.1 +Access token response +pass +4 of 4$/m);
    expect(out).toMatch(/^4\.2 +GET \/api\/v1\/ax\/assessments +pass/m);
    expect(out).toMatch(/Where the document is silent\n/);
    expect(out).toMatch(/Nothing contradicts the document\. \d+ requests/);
  });

  it('is 1 for a host that contradicts it, and names the statement', async () => {
    const sandbox = await sandboxWith({ records: 250, deviations: ['wrapped-record'] });
    const { code, out } = await runOn(sandbox, '--token-request', 'json');
    expect(code).toBe(1);
    expect(out).toMatch(/^4\.3 .* fail +\d of \d\n +fail +the record is not wrapped in data\n/m);
    expect(out).toContain('4.1  POST /oauth/token                 cannot tell');
  });

  const host = ['--base-url', 'http://127.0.0.1:9'];
  it.each([
    ['no host', [], "'--base-url"],
    ['a host without TLS', ['--base-url', 'http://host.example', '--credentials', 'x'], 'https'],
    ['an unknown form', ['--token-request', 'xml'], 'Allowed choices are form, basic, json'],
    ['no name', [...host, '--credentials', ''], 'the path of a file'],
    ['no such file', [...host, '--credentials', 'none'], 'none is not found'],
  ])('is 2 for %s, in one line', async (_, flags, expected) => {
    const { code, out, err } = await run(...flags);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(expected);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  it('is 2 for a host that is down', async () => {
    const { credentials } = await sandboxWith({ records: 0 });
    const { code, err } = await runOn({ url: nobodyThere, credentials });
    expect(code).toBe(2);
    expect(err).toMatch(/^error: No usable answer from the token endpoint: ECONNREFUSED\./);
  });

  it('is 2 for wrong credentials, which are not repeated', async () => {
    const { url } = await sandboxWith({ records: 0 });
    const credentials = { clientId: 'canary-client', clientSecret: 'canary-secret' };
    const { code, out, err } = await runOn({ url, credentials }, '--json');
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(JSON.parse(out)).toMatchObject({ exitCode: 2, error: { code: 'credentials-refused' } });
    expect(out).not.toContain('canary');
  });
});

it('--json prints one object with each check and observation', async () => {
  const sandbox = await sandboxWith({ records: 250, deviations: ['expires-in-3600'] });
  const { code, out } = await runOn(sandbox, '--json');
  const report = JSON.parse(out);
  expect(code).toBe(1);
  expect(report).toMatchObject({ baseUrl: sandbox.url, exitCode: 1 });
  expect(report.requests).toBe(sandbox.requests.length);
  const verdict = {
    verdict: 'fail',
    expected: 'expires_in 7200',
    seen: 'form: 3600',
    proven: true,
  };
  expect(report.sections[0]).toMatchObject({
    id: '2.1',
    verdict: 'fail',
    checks: expect.arrayContaining([{ name: 'expires_in is 7200', verdict }]),
  });
  expect(report.observations).not.toHaveLength(0);
});
