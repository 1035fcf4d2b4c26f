import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { factsOf } from '../../scripts/release/facts.ts';
import { nobodyThere } from '../support/nobody-there.ts';

const root = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'checkout-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

it.each([
  ['is refused by npm, also to somebody who is signed in', {}, ['--ignore-scripts'], /EPRIVATE/],
  ['begins with the check of the release', { private: false }, [], /^7$/m],
])('npm publish %s', (_, change, flags, told) => {
  const { prepublishOnly } = manifest.scripts;
  const check = 'node -e "console.log(7);process.exit(7)"';
  const scripts = { prepublishOnly, 'release:check': check };
  write('package.json', JSON.stringify({ ...manifest, scripts, ...change }));
  const registry = nobodyThere.replace('http:', '');
  const token = `${registry}/:_authToken=token`;
  write('.npmrc', `registry=${nobodyThere}/\n${token}\nfetch-retries=0\n`);
  const shell = process.platform === 'win32';
  const npm = spawnSync('npm', ['publish', ...flags], { cwd: folder, encoding: 'utf8', shell });
  expect(npm.status).not.toBe(0);
  expect(npm.stdout + npm.stderr).toMatch(told);
});

it('the facts of a checkout are its files, commits and tags, and the tarball that npm makes of it', () => {
  const { bin, exports, files } = manifest;
  const event = 'docs/events/certification-event-1.schema.json';
  const written = {
    'package.json': JSON.stringify({ name: 'n', version: '0.2.0', bin, exports, files }),
    'CHANGELOG.md': '# Changelog',
    ...{ 'ops/launcher.mjs': '', 'dist/consumer/index.js': '' },
    'docs/events/bus-event-1.schema.json': '{}',
  };
  for (const [path, content] of Object.entries(written)) write(path, content);
  for (const path of [event, event.replace('events/', 'events/released/')])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  const author = ['-c', 'user.name=n', '-c', 'user.email=n@example.org'];
  const git = (line: string) =>
    execFileSync('git', [...author, ...line.split(' ')], { cwd: folder });
  ['init -q', 'add .', 'commit -qm 1', 'tag v0.1.0'].forEach(git);
  ['commit -qm 2 --allow-empty', 'tag v0.2.0'].forEach(git);
  write('secret.env', '');

  const { contract, stale, tarball, ...facts } = factsOf(folder);
  expect(facts).toMatchObject({
    version: '0.2.0',
    changelog: '# Changelog',
    uncommitted: ['secret.env'],
    tags: ['v0.1.0'],
  });
  expect(contract.get('bus-event-1.schema.json')).toEqual({ current: '{}', released: undefined });
  expect(contract.get('certification-event-1.schema.json')?.released).toMatch(/^\{/);
  expect(stale).toContain('docs/command-line.md');
  expect(stale).not.toContain(event);
  expect(tarball.map(({ path }) => path).sort()).toEqual([
    'dist/consumer/index.js',
    'docs/events/bus-event-1.schema.json',
    event,
    'ops/launcher.mjs',
    'package.json',
  ]);
});
