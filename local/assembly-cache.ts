import { createHash, randomUUID } from 'node:crypto';
import {
  access,
  chmod,
  glob,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Temporal } from 'temporal-polyfill';
import type { NotifierConfig } from '../infra/config.ts';
import { isSystemError } from './errors.ts';
import { type SynthesisOptions, synthesize } from './synthesize.ts';

const checkout = fileURLToPath(new URL('..', import.meta.url));

/** Below node_modules: a new installation of the packages removes the cache, too. */
const assemblyCache = join(checkout, 'node_modules/.cache/certification-notifier/assemblies');

/** All inputs of a synthesis beside its configuration. npm's list of the installed packages stands for the packages. */
const sources = [
  'infra/**',
  'lambda/**',
  'local/synthesize.ts',
  // A function of the demo's stack.
  'local/partner-sandbox/**',
  'cdk.json',
  'package.json',
  // esbuild reads it.
  'tsconfig.json',
  'node_modules/.package-lock.json',
];

/** Folders of some 3 MB each. More stay only while they are in use. */
const mostKept = 40;
/** A process may read its folders as long as it runs. It notes their use every minute. */
const inUseMs = Temporal.Duration.from({ minutes: 10 }).total('milliseconds');
const notedEveryMs = Temporal.Duration.from({ minutes: 1 }).total('milliseconds');

interface CacheOptions extends SynthesisOptions {
  readonly cache?: string;
  /** For tests: fills an empty folder. */
  readonly make?: typeof synthesize;
}

/**
 * The folder with the assembly of a configuration. The first call synthesizes it. Later calls return the same folder
 * while configuration, sources and packages are the same, byte by byte. Nobody may write into it. If several processes
 * ask at once, the result of the fastest counts.
 *
 * @throws StartError, the reason of `signal`, or the system's error when the cache cannot be written
 */
export async function cachedAssembly(
  config: NotifierConfig,
  options: CacheOptions = {},
): Promise<string> {
  const { signal, demo = false, cache = assemblyCache, make = synthesize } = options;
  const key = await keyOf(config, { demo });
  const folder = join(cache, key);
  if (await isWhole(folder)) return inUse(folder);
  // An assembly holds the subscribers' addresses, so no other user of the machine may read it.
  await mkdir(dirname(cache), { recursive: true });
  await mkdir(cache, { recursive: true, mode: 0o700 });
  await chmod(cache, 0o700);
  await prune(cache);
  const unfinished = await mkdtemp(`${folder}.`);
  try {
    await make(config, unfinished, { signal, demo });
    // If a file was edited meanwhile, the assembly may be a mixture of both versions.
    if ((await keyOf(config, { demo })) === key) {
      await rename(unfinished, folder).catch(async (error) => {
        if (!isSystemError(error, 'ENOTEMPTY', 'EEXIST')) throw error;
        // Another process was faster, or a part of the files was deleted.
        if (await isWhole(folder)) return;
        await discard(folder);
        await rename(unfinished, folder);
      });
      return inUse(folder);
    }
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return cachedAssembly(config, options);
}

/** The same, with another cache where a checkout cannot be written. */
export function assemblyFor(
  config: NotifierConfig,
  spare: string,
  options: SynthesisOptions,
): Promise<string> {
  return cachedAssembly(config, options).catch((error) => {
    if (!isSystemError(error, 'EACCES', 'EPERM', 'EROFS')) throw error;
    return cachedAssembly(config, { ...options, cache: spare });
  });
}

/** The key of a configuration and of the sources in a folder. */
export async function keyOf(
  config: NotifierConfig,
  { demo = false, root = checkout } = {},
): Promise<string> {
  // The CDK reads environment variables with its own prefix.
  const variables = Object.entries(process.env).filter(([name]) => name.startsWith('CDK_'));
  const given = JSON.stringify([process.version, variables.sort(), config, demo]);
  const hash = createHash('sha256').update(given);
  const entries = await Array.fromAsync(glob(sources, { cwd: root, withFileTypes: true }));
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  // Sorted, so that the key does not depend on the file system.
  for (const file of files.sort())
    hash.update(`\0${file}\0`).update(await readFile(join(root, file)));
  return hash.digest('hex').slice(0, 32);
}

/** Whether the folder has a manifest, without which an assembly cannot be read. Notes the use. */
async function isWhole(folder: string): Promise<boolean> {
  try {
    await access(join(folder, 'manifest.json'));
    await noteUse(folder);
    return true;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return false;
    throw error;
  }
}

async function noteUse(folder: string): Promise<void> {
  const now = new Date();
  await utimes(folder, now, now);
}

const given = new Set<string>();

/** Keeps the folder from being pruned while this process runs. */
function inUse(folder: string): string {
  if (!given.has(folder)) {
    given.add(folder);
    // An error only means that the folder was deleted by hand.
    setInterval(() => void noteUse(folder).catch(() => {}), notedEveryMs).unref();
  }
  return folder;
}

/** Removes the folders that were used longest ago, the unfinished or half deleted ones of killed processes included. */
async function prune(cache: string): Promise<void> {
  const folders = await Promise.all(
    (await readdir(cache)).map(async (name) => {
      const folder = join(cache, name);
      return { folder, usedMs: await lastUseOf(folder) };
    }),
  );
  // One less than the limit, since one is about to be made.
  const surplus = folders.sort((a, b) => b.usedMs - a.usedMs).slice(mostKept - 1);
  // The use is read again: another process may have begun to use a folder since it was listed.
  for (const { folder } of surplus)
    if ((await lastUseOf(folder)) < Date.now() - inUseMs) await discard(folder);
}

async function lastUseOf(folder: string): Promise<number> {
  const { mtimeMs = 0 } = (await stat(folder).catch(() => undefined)) ?? {};
  return mtimeMs;
}

/** Renames before it deletes: under its key, a folder is whole or absent, even if this process is killed meanwhile. */
async function discard(folder: string): Promise<void> {
  const gone = `${folder}.${randomUUID()}`;
  try {
    await rename(folder, gone);
  } catch (error) {
    // Another process has removed it.
    if (isSystemError(error, 'ENOENT')) return;
    throw error;
  }
  await rm(gone, { recursive: true, force: true });
}
