import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { nobodyThere } from '../support/nobody-there.ts';

const root = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'checkout-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, content: string): void {
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
