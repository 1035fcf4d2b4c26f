// Runs before every npm script, on the host's own Node: installs from the lockfile when
// node_modules differs from the lockfile, writes the types of the configuration when they are older than its schema, and
// otherwise does nothing.
// Plain JavaScript, because the Node that runs TypeScript is one of the things installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const nodeBinary = `${root}node_modules/.bin/node`;

/** Undefined: the file is missing or incomplete. */
function readJson(/** @type {string} */ file) {
  try {
    return JSON.parse(readFileSync(`${root}${file}`, 'utf8'));
  } catch {
    return undefined;
  }
}

function isInstalled() {
  if (!existsSync(nodeBinary) && !existsSync(`${nodeBinary}.cmd`)) return false;
  // npm writes this file last, so an interrupted installation has none.
  if (!readJson('node_modules/.package-lock.json')) return false;
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  return Object.entries(packages).every(
    ([path, { version, optional }]) =>
      path === '' || optional || readJson(`${path}/package.json`)?.version === version,
  );
}

function giveUp(/** @type {string} */ problem) {
  console.error(`error: ${problem}`);
  process.exit(1);
}

if (!isInstalled()) {
  console.error('Installing dependencies (once) …');
  const install = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    // npm's output must not mix with that of the command.
    stdio: ['ignore', 2, 2],
    env: { ...process.env, npm_config_update_notifier: 'false' },
    shell: process.platform === 'win32',
  });
  if (install.error) giveUp(`npm could not be run (${install.error.message}). Is it in the PATH?`);
  if (install.status !== 0) {
    giveUp(
      `\`npm ci\` failed in ${root}. Correct the problem that npm names above (the registry must be reachable, ` +
        'the folder writable, the disk not full) and run this again.',
    );
  }
  if (!isInstalled()) {
    giveUp(
      'The installation is incomplete: Node 24 (npm package "node") is missing. ' +
        'Does npm forbid install scripts (ignore-scripts)? Allow them and run this again.',
    );
  }
}

/** The schema, and the scripts that make the types of it. */
const sources = ['infra/config/', 'scripts/'].flatMap((folder) =>
  readdirSync(`${root}${folder}`)
    .filter((name) => folder === 'infra/config/' || name.startsWith('configuration-'))
    .map((name) => `${root}${folder}${name}`),
);
const types = `${root}infra/config/input.ts`;
if (
  !existsSync(types) ||
  sources.some((file) => statSync(file).mtimeMs > statSync(types).mtimeMs)
) {
  const { status } = spawnSync(nodeBinary, [`${root}scripts/generate-types.ts`], {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) giveUp('The types of the configuration could not be written: see above.');
}
