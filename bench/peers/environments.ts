import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

export const peers = ['dlt', 'airbyte-cdk', 'singer'] as const;
export type Peer = (typeof peers)[number];

/** The folder of a peer's program, requirements and configuration. */
export const folderOf = (peer: Peer) => join(here, peer);

/** A peer's virtual environment. */
export interface VirtualEnvironment {
  readonly python: string;
  readonly bin: string;
}

/** @throws Error with the versions to install, when there is no Python that all peers run on */
export async function findPython(): Promise<string> {
  const isFit = 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))';
  for (const name of ['python3.11', 'python3.12', 'python3.13', 'python3'])
    try {
      await run(name, ['-c', isFit]);
      return name;
    } catch {
      // Another Python may fit.
    }
  throw new Error(
    'The peers need Python 3.11, 3.12 or 3.13 with its module venv (and ensurepip), and none is on the path. Install one, for example with "apt install python3.11-venv" or "brew install python@3.11".',
  );
}

/** The peer's virtual environment. The first call makes it from the package index. */
export async function environmentOf(peer: Peer, python: string): Promise<VirtualEnvironment> {
  const requirements = join(folderOf(peer), 'requirements.txt');
  const digest = createHash('sha256')
    .update(python)
    .update(await readFile(requirements));
  const folder = join(root, '.local/peers', `${peer}-${digest.digest('hex').slice(0, 8)}`);
  const bin = join(folder, 'bin');
  const environment = { bin, python: join(bin, 'python') };
  const marker = join(folder, 'installed');
  if (existsSync(marker)) return environment;
  console.error(`Installing ${peer} and its dependencies into ${folder}`);
  await rm(folder, { recursive: true, force: true });
  await run(python, ['-m', 'venv', folder]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--requirement', requirements];
  await run(environment.python, pip);
  await writeFile(marker, '');
  return environment;
}

/** Without telemetry, and without settings of this machine. */
export const peerVariables: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: join(root, '.local/peers'),
  RUNTIME__DLTHUB_TELEMETRY: 'false',
  DO_NOT_TRACK: '1',
};
