// Runs before every npm script, on the host's own Node: installs from the lockfile when
// node_modules does not hold exactly what the lockfile names, and otherwise does nothing.
// Plain JavaScript, because the Node that runs TypeScript is one of the things installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const nodeBinary = `${root}node_modules/.bin/node`;

/** @returns {Record<string, { version?: string, optional?: boolean }>} */
function packagesOf(/** @type {string} */ lockfile) {
  return JSON.parse(readFileSync(`${root}${lockfile}`, 'utf8')).packages;
}

function isInstalled() {
  if (!existsSync(`${root}node_modules/.package-lock.json`)) return false;
  if (!existsSync(nodeBinary) && !existsSync(`${nodeBinary}.cmd`)) return false;
  const installed = packagesOf('node_modules/.package-lock.json');
  return Object.entries(packagesOf('package-lock.json')).every(
    ([path, { version, optional }]) =>
      path === '' || optional || installed[path]?.version === version,
  );
}

if (!isInstalled()) {
  console.error('Installing dependencies (once) …');
  const install = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    // npm's chatter must not mix with the output of the command that was asked for.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (install.error) console.error(`npm could not be run: ${install.error.message}`);
  if (install.status !== 0) process.exit(install.status ?? 1);
  if (!isInstalled()) {
    console.error(
      'The installation is incomplete: Node 24 (npm package "node") is missing. ' +
        'Does npm forbid install scripts (ignore-scripts)? Allow them and run this again.',
    );
    process.exit(1);
  }
}
