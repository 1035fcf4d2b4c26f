import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../local/run.ts';
import { RunningProgram } from '../support/running.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'start-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function ended(...flags: string[]) {
  const environment = { NOTIFIER_LOCAL: join(directory, 'local'), INIT_CWD: directory };
  const { exitCode, stdout, stderr } = await new RunningProgram(run, ['--port', '0', ...flags], {
    environment,
  }).ended;
  return { code: exitCode, out: stdout, err: stderr.split('\n').slice(0, -1) };
}

const canary = 'canary-4f1d-secret';

describe('an impossible start is one line and a failure, without the secret:', () => {
  const tls = ['--base-url', 'https://partner.example.org', '--credentials', 'c.json'];
  test.each<[string, readonly string[], string | RegExp]>([
    ['an unknown flag', ['--faster'], "unknown option '--faster'"],
    ['an invalid interval', ['--every', 'soon'], 'Allowed: seconds, from 0.2 to 3600'],
    ['no ticks at all', ['--ticks', '0'], 'Allowed: a whole number from 1'],
    ['a host without credentials', ['--base-url', 'https://a.example'], 'need each other'],
    ['a credentials file without a name', ['--credentials', ''], 'Allowed: the path of a file.'],
    ['a seed for the demo', ['--demo', '--seed', '2'], "'--demo' cannot be used with option"],
    ['records for the demo', ['--demo', '--records', '9'], "'--demo' cannot be used with option"],
    ['a time zone for the sandbox', ['--time-zone', 'UTC'], "needs '--base-url'"],
    [
      'a host without TLS',
      [...tls, '--base-url', 'http://partner.example.org'],
      /option '--base-url': "http:.* allowed: an https host/,
    ],
    [
      'a host with credentials',
      [...tls, '--base-url', `https://a:${canary}@partner.example.org`],
      /option '--base-url': a text of \d+ characters found; allowed: an https host/,
    ],
    [
      'an invalid time zone',
      [...tls, '--time-zone', 'Nowhere'],
      /option '--time-zone': "Nowhere" found; allowed: .*IANA/,
    ],
  ])('%s', async (_, flags, expected) => {
    const { code, out, err } = await ended(...flags);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toEqual([expect.stringMatching(expected)]);
    expect(err.join()).not.toContain(canary);
  });

  test.each([
    [undefined, 'is not found'],
    [`{"client_secret": "${canary}`, 'holds no credentials (it is not a JSON object)'],
    [`{"client_secret": "${canary}"}`, '(client_id is not a text, or is empty)'],
  ])('the credentials file %s', async (content, expected) => {
    if (content !== undefined) await writeFile(join(directory, 'c.json'), content);
    const flags = ['--base-url', 'http://127.0.0.1:9', '--credentials', 'c.json'];
    const { code, err } = await ended(...flags);
    expect(code).toBe(1);
    expect(err).toEqual([expect.stringContaining(expected)]);
    expect(err.join()).not.toContain(canary);
  });
});

test('a wrong configuration is reported as by a synthesis', async () => {
  await writeFile(join(directory, 'bad.config.mjs'), 'export default { integrations: [] };');
  const { code, out, err } = await ended('--config', 'bad.config.mjs');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err.slice(0, 2)).toEqual([
    expect.stringMatching(/^error: .*bad\.config\.mjs has a problem:$/),
    expect.stringMatching(/^ {2}integrations: a list of 0 found; allowed: /),
  ]);
});
