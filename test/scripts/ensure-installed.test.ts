import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const script = join(import.meta.dirname, '../../scripts/ensure-installed.mjs');
let root: string;

/** A checkout with one needed and one optional package, installed, and an npm that notes its calls. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ensure-installed-'));
  mkdirSync(join(root, 'scripts'));
  copyFileSync(script, join(root, 'scripts/ensure-installed.mjs'));
  write('package-lock.json', {
    packages: {
      '': {},
      'node_modules/needed': { version: '1.0.0' },
      'node_modules/for-another-system': { version: '1.0.0', optional: true },
    },
  });
  write('node_modules/.package-lock.json', { packages: {} });
  write('node_modules/.bin/node', {});
  write('node_modules/needed/package.json', { version: '1.0.0' });
  npm('exit 0');
});
afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, content: unknown) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), typeof content === 'string' ? content : JSON.stringify(content));
}

function npm(commands: string) {
  write('bin/npm', `#!/bin/sh\necho "$@" > '${root}/called'\ncd '${root}'\n${commands}\n`);
  chmodSync(join(root, 'bin/npm'), 0o755);
}

function ensureInstalled() {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'scripts/ensure-installed.mjs')],
    { encoding: 'utf8', env: { PATH: `${root}/bin:/usr/bin:/bin` } },
  );
  return { status, stdout, stderr, installs: existsSync(join(root, 'called')) };
}

test('installed packages are not installed again, without output', () => {
  expect(ensureInstalled()).toEqual({ status: 0, stdout: '', stderr: '', installs: false });
});

test.each([
  ['a package is missing', () => rmSync(join(root, 'node_modules/needed'), { recursive: true })],
  ['a package is incomplete', () => write('node_modules/needed/package.json', '{"vers')],
  [
    'a package has another version',
    () => write('node_modules/needed/package.json', { version: '0.9.0' }),
  ],
  ['npm was interrupted', () => rmSync(join(root, 'node_modules/.package-lock.json'))],
  ["npm's own note is incomplete", () => write('node_modules/.package-lock.json', '{"packa')],
  ['Node is missing', () => rmSync(join(root, 'node_modules/.bin/node'))],
])('it installs when %s', (_, damage) => {
  damage();
  npm(
    `printf '{"version":"1.0.0"}' > package.json; mkdir -p node_modules/needed; cp package.json node_modules/needed/
     printf '{}' > node_modules/.package-lock.json; printf '' > node_modules/.bin/node`,
  );
  expect(ensureInstalled()).toMatchObject({ status: 0, stdout: '', installs: true });
});

test('a failed installation is one line with its place and the next step', () => {
  rmSync(join(root, 'node_modules'), { recursive: true });
  npm('exit 7');
  const { status, stderr } = ensureInstalled();
  expect(status).toBe(1);
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringContaining('Installing'),
    expect.stringMatching(/^error: `npm ci` failed in .*run this again\.$/),
  ]);
});

test('an installation without install scripts says so', () => {
  rmSync(join(root, 'node_modules/.bin/node'));
  const { status, stderr } = ensureInstalled();
  expect(status).toBe(1);
  expect(stderr).toContain('ignore-scripts');
});
