import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const cache = join(import.meta.dirname, '../../node_modules/.cache/certification-notifier/nodes');

/** The reason, for people who read which tests were skipped. */
export interface NodeMissing {
  readonly missing: string;
}

/**
 * The binary of a version of Node, fetched from the package registry once per checkout. Without a
 * registry there is none. CI has a registry and fails instead of skipping the tests that need it.
 */
export async function nodeOfVersion(version: string): Promise<string | NodeMissing> {
  const place = join(cache, version);
  const binary = join(place, 'node_modules/node/bin/node');
  if (existsSync(binary)) return binary;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'fetching-'));
  try {
    await writeFile(join(folder, 'package.json'), '{"allowScripts":{"node":true}}');
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'];
    const install = spawn('npm', ['install', ...quiet, `node@${version}`], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: process.platform === 'win32',
    });
    const [why, [code]] = await Promise.all([text(install.stderr), once(install, 'close')]);
    if (code === 0) {
      await rename(folder, place);
      return binary;
    }
    if (process.env.CI) throw new Error(`Node ${version} could not be fetched: ${why}`);
    return { missing: `Node ${version} could not be fetched` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
