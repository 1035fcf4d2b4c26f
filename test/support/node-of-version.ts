import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

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
    const shell = process.platform === 'win32';
    await run('npm', ['install', ...quiet, `node@${version}`], { cwd: folder, shell });
    await rename(folder, place);
    return binary;
  } catch (cause) {
    const missing = `Node ${version} could not be fetched`;
    if (process.env.CI) throw new Error(missing, { cause });
    return { missing };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
