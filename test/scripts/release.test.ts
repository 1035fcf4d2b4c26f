import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { factsOf } from '../../scripts/release/facts.ts';
import {
  type Release,
  reasonsNotToPublish,
  releaseProblems,
} from '../../scripts/release/problems.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const schema = read('docs/events/released/certification-event-1.schema.json');

const sound: Release = {
  manifest: {
    version: '0.2.0',
    repository: { type: 'git', url: 'git+https://example.org/certification-notifier.git' },
    publishConfig: { access: 'public', provenance: true },
    bin: { 'certification-notifier': 'ops/launcher.mjs' },
    exports: {
      './consumer': { types: './dist/consumer/index.d.ts', default: './dist/consumer/index.js' },
      './events/*': './docs/events/*',
      './package.json': './package.json',
    },
  },
  lockedVersion: '0.2.0',
  changelog: `# Changelog

## Unreleased

## 0.2.0 - 2026-11-21

### Added

- Something.
`,
  today: Temporal.PlainDate.from('2026-11-21'),
  contract: new Map([['certification-event-1.schema.json', { current: schema, released: schema }]]),
  stale: [],
  uncommitted: [],
  tags: ['v0.1.0'],
  tarball: [
    'package.json',
    'README.md',
    'ops/launcher.mjs',
    'dist/consumer/index.d.ts',
    'dist/consumer/index.js',
    'dist/functions/poll/index.mjs',
    'docs/events/certification-event-1.schema.json',
  ].map((path) => ({ path, size: 1_000 })),
};

const withContract = (current: string, released?: string) =>
  new Map([['certification-event-1.schema.json', { current, released }]]);
const withFile = (path: string, size = 1) => [...sound.tarball, { path, size }];

describe('a release', () => {
  it('is sound as it should be, also with the headings of Keep a Changelog', () => {
    expect(releaseProblems(sound)).toEqual([]);
    const changelog = sound.changelog
      .replace('0.2.0', '[0.2.0]')
      .replace('Unreleased', '[Unreleased]');
    expect(releaseProblems({ ...sound, changelog })).toEqual([]);
    expect(reasonsNotToPublish(sound)).toEqual([]);
  });

  it.each<[string, Partial<Release>, RegExp]>([
    [
      'another version in the lockfile',
      { lockedVersion: '0.1.0' },
      /^package-lock\.json has version 0\.1\.0/,
    ],
    [
      'the version of an earlier commit',
      { tags: ['v0.2.0'] },
      /^v0\.2\.0 is the tag of another commit/,
    ],
    [
      'entries that have no version',
      {
        changelog: sound.changelog.replace(
          'Unreleased\n',
          'Unreleased\n\n- More.\n- Still more.\n',
        ),
      },
      /^CHANGELOG\.md has 2 entries below "Unreleased"/,
    ],
    [
      'a version that the changelog does not know',
      { changelog: sound.changelog.replace('0.2.0', '0.2.0-beta') },
      /^CHANGELOG\.md has no section of this version: "## 0\.2\.0 - 2026-11-21"/,
    ],
    [
      'a version without entries',
      { changelog: sound.changelog.replace('- Something.', '') },
      /^CHANGELOG\.md says nothing below 0\.2\.0/,
    ],
    [
      'a version without a date',
      { changelog: sound.changelog.replace(' - 2026-11-21', ' (soon)') },
      /^CHANGELOG\.md has no date behind 0\.2\.0/,
    ],
    [
      'a date to come',
      { changelog: sound.changelog.replace('11-21', '11-23') },
      /^CHANGELOG\.md says that 0\.2\.0 is of 2026-11-23, which is in the future/,
    ],
    [
      'a contract that breaks consumers',
      {
        contract: withContract(schema.replace('"format": "date-time"', '"format": "date"'), schema),
      },
      /^certification-event-1\.schema\.json breaks the released contract: .*time/,
    ],
    [
      'a contract that has grown, and was not copied',
      { contract: withContract(schema.replace('Version of CloudEvents.', 'The version.'), schema) },
      /^docs\/events\/released has certification-event-1\.schema\.json as it was: cp /,
    ],
    [
      'a contract that was never released',
      { contract: withContract(schema) },
      /^docs\/events\/released lacks certification-event-1\.schema\.json: cp /,
    ],
    ['a stale page', { stale: ['docs/command-line.md'] }, /^docs\/command-line\.md is stale/],
    [
      'a change without a commit',
      { uncommitted: ['README.md'] },
      /^README\.md differs from the commit/,
    ],
    [
      'a tarball that was not built',
      { tarball: sound.tarball.filter(({ path }) => path !== 'dist/consumer/index.js') },
      /^the tarball lacks dist\/consumer\/index\.js/,
    ],
    [
      'a tarball without the contract',
      { tarball: sound.tarball.filter(({ path }) => !path.startsWith('docs/events')) },
      /^the tarball lacks docs\/events\/\*/,
    ],
    [
      'sources',
      { tarball: withFile('dist/lambda/poll.ts') },
      /^the tarball has dist\/lambda\/poll\.ts/,
    ],
    ['a local instance', { tarball: withFile('.local/instance.json') }, /^the tarball has \.local/],
    [
      'much more than before',
      { tarball: withFile('dist/ops/run.js', 20e6) },
      /bytes unpacked, more than/,
    ],
  ])('is stopped by %s', (_, change, problem) => {
    expect(releaseProblems({ ...sound, ...change })).toEqual([expect.stringMatching(problem)]);
  });
});

const manifest = JSON.parse(read('package.json'));

describe('publishing', () => {
  it('is for everybody, with proof of where it was built, once it is wanted', () => {
    expect(reasonsNotToPublish({ ...sound, manifest })).toEqual([
      expect.stringMatching(/^`private` is true/),
      expect.stringMatching(/^`repository` is missing/),
    ]);
    const restricted = { ...sound.manifest, publishConfig: { access: 'restricted' } };
    expect(reasonsNotToPublish({ ...sound, manifest: restricted })).toHaveLength(1);
  });

  const folder = mkdtempSync(join(tmpdir(), 'publishing-'));
  const asked: string[] = [];
  const registry = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    response.writeHead(404).end('{}');
  });
  beforeAll(async () => {
    await once(registry.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    registry.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** By somebody who is signed in, at a registry that notes the requests. */
  async function published(change: object, ...flags: readonly string[]): Promise<string> {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, ...change }));
    const host = `//127.0.0.1:${Object(registry.address()).port}/`;
    writeFileSync(join(folder, '.npmrc'), `registry=http:${host}\n${host}:_authToken=token\n`);
    const npm = spawn('npm', ['publish', ...flags], {
      cwd: folder,
      shell: process.platform === 'win32',
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(npm.stdout),
      text(npm.stderr),
      once(npm, 'close'),
    ]);
    expect(code).not.toBe(0);
    return stdout + stderr;
  }

  it('is refused by npm, also to somebody who is signed in', async () => {
    expect(await published({}, '--ignore-scripts')).toContain('EPRIVATE');
    expect(asked.filter((request) => request.startsWith('PUT'))).toEqual([]);
  });

  it('begins with this check, once it is not refused', async () => {
    const { prepublishOnly } = manifest.scripts;
    const told = 'node -e "console.log(process.argv.slice(1).join(), 7);process.exit(7)" --';
    const change = { private: false, scripts: { prepublishOnly, 'release:check': told } };
    expect(await published(change)).toMatch(/^--publish 7$/m);
    expect(asked.filter((request) => request.startsWith('PUT'))).toEqual([]);
  });
});

describe('the facts of a checkout', () => {
  const folder = mkdtempSync(join(tmpdir(), 'checkout-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@example.org', ...args], {
      cwd: folder,
      stdio: 'pipe',
    });

  it('are its files, its commits and tags, and the tarball that npm makes of it', () => {
    const { bin, exports, files } = manifest;
    write('package.json', JSON.stringify({ name: 'n', version: '0.2.0', bin, exports, files }));
    write('package-lock.json', JSON.stringify({ version: '0.1.0' }));
    write('CHANGELOG.md', sound.changelog);
    write('ops/launcher.mjs', '');
    write('dist/consumer/index.js', '');
    write(
      'docs/events/certification-event-1.schema.json',
      read('docs/events/certification-event-1.schema.json'),
    );
    write('docs/events/bus-event-1.schema.json', '{}');
    write('docs/events/released/certification-event-1.schema.json', schema);
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'All');
    git('tag', 'v0.1.0');
    git('commit', '--quiet', '--message', 'More', '--allow-empty');
    git('tag', 'v0.2.0');
    write('secret.env', '');

    const facts = factsOf(folder);
    expect(facts).toMatchObject({
      manifest: { version: '0.2.0', private: false },
      lockedVersion: '0.1.0',
      changelog: sound.changelog,
      uncommitted: ['secret.env'],
      tags: ['v0.1.0'],
    });
    expect(facts.contract.get('bus-event-1.schema.json')).toEqual({
      current: '{}',
      released: undefined,
    });
    expect(facts.contract.get('certification-event-1.schema.json')?.released).toBe(schema);
    expect(facts.stale).toContain('docs/command-line.md');
    expect(facts.stale).toContain('docs/events/bus-event-1.schema.json');
    expect(facts.stale).not.toContain('docs/events/certification-event-1.schema.json');
    expect(facts.tarball.map(({ path }) => path).sort()).toEqual([
      'dist/consumer/index.js',
      'docs/events/bus-event-1.schema.json',
      'docs/events/certification-event-1.schema.json',
      'ops/launcher.mjs',
      'package.json',
    ]);
  });
});
