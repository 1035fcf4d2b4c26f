import { createHash, randomUUID } from 'node:crypto';
import {
  access,
  chmod,
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

/** Goes with the packages that it was made with. */
const assemblyCache = join(checkout, 'node_modules/.cache/certification-notifier/assemblies');

/** All that a synthesis reads beside its configuration; of the packages, npm's list of those installed. */
const sources = [
  'infra',
  'lambda',
  'local/synthesize.ts',
  // Of the demo's stack it is a function.
  'local/partner-sandbox',
  'cdk.json',
  'package.json',
  // By which esbuild compiles.
  'tsconfig.json',
  'node_modules/.package-lock.json',
];

/** Folders of some 3 MB. More are kept only while they are in use. */
const mostKept = 40;
/** A process reads the folders that it was given as long as it runs, and notes their use every minute. */
const inUseMs = Temporal.Duration.from({ minutes: 10 }).total('milliseconds');
const notedEveryMs = Temporal.Duration.from({ minutes: 1 }).total('milliseconds');
const isKey = (name: string) => /^[0-9a-f]{32}$/.test(name);

interface CacheOptions extends SynthesisOptions {
  readonly cache?: string;
  /** For tests: fills an empty folder. */
  readonly make?: typeof synthesize;
}

/**
 * The folder of the assembly of a configuration. It is synthesized at the first time, and given out
 * again for as long as configuration, sources and packages are the same, byte by byte. Nobody may
 * write into it. Several processes may ask at once: the first one to be done is believed.
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
  // An assembly holds the subscribers' addresses: nobody else of the machine is to read them.
  await mkdir(dirname(cache), { recursive: true });
  await mkdir(cache, { recursive: true, mode: 0o700 });
  await chmod(cache, 0o700);
  await prune(cache);
  const unfinished = await mkdtemp(`${folder}.${process.pid}-`);
  try {
    await make(config, unfinished, { signal, demo });
    // Somebody may have edited a file meanwhile; then nobody knows which of both it was made of.
    if ((await keyOf(config, { demo })) === key) {
      await rename(unfinished, folder).catch(async (error) => {
        if (!isSystemError(error, 'ENOTEMPTY') && !isSystemError(error, 'EEXIST')) throw error;
        // Another process was faster, or somebody has deleted a part of the files.
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

/** The same, or a synthesis into an empty folder where the packages' folder cannot be written. */
export async function assemblyFor(
  config: NotifierConfig,
  spare: string,
  options: SynthesisOptions = {},
): Promise<string> {
  try {
    return await cachedAssembly(config, options);
  } catch (error) {
    const isReadOnly = ['EACCES', 'EPERM', 'EROFS'].some((code) => isSystemError(error, code));
    if (!isReadOnly) throw error;
    await synthesize(config, spare, options);
    return spare;
  }
}

/** Of a configuration and the sources in a folder. */
export async function keyOf(
  config: NotifierConfig,
  { demo = false, root = checkout } = {},
): Promise<string> {
  // Of the environment, the CDK reads variables that have its name.
  const variables = Object.entries(process.env).filter(([name]) => name.startsWith('CDK_'));
  const given = JSON.stringify([process.version, variables.sort(), config, demo]);
  const hash = createHash('sha256').update(given);
  for (const file of (await Promise.all(sources.map((source) => filesOf(root, source)))).flat())
    hash.update(`\0${file}\0`).update(await readFile(join(root, file)));
  return hash.digest('hex').slice(0, 32);
}

/** In an order that does not depend on the file system. */
async function filesOf(root: string, source: string): Promise<string[]> {
  if (!(await stat(join(root, source))).isDirectory()) return [source];
  const entries = await readdir(join(root, source), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** Without its manifest nobody can read an assembly. Notes the use. */
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

/** Keeps it from being pruned while this process runs. */
function inUse(folder: string): string {
  if (!given.has(folder)) {
    given.add(folder);
    // Who has deleted a folder by hand does so knowingly.
    setInterval(() => void noteUse(folder).catch(() => {}), notedEveryMs).unref();
  }
  return folder;
}

/** Unfinished or half deleted files of a killed process are removed at the first opportunity. */
async function prune(cache: string): Promise<void> {
  const folders = await Promise.all(
    (await readdir(cache)).map(async (name) => {
      const folder = join(cache, name);
      return { name, folder, usedMs: await lastUseOf(folder) };
    }),
  );
  const kept = folders.filter(({ name }) => isKey(name)).sort((a, b) => b.usedMs - a.usedMs);
  // One more is about to be made.
  const surplus = kept.slice(mostKept - 1);
  // Somebody may have begun to use it since it was listed.
  const unfinished = folders.filter(({ name }) => !isKey(name) && !isBeingMade(name));
  for (const { folder } of [...surplus, ...unfinished])
    if ((await lastUseOf(folder)) < Date.now() - inUseMs) await discard(folder);
}

/** Its process runs, or another one has its number by now: then it goes later. A clock may have been set meanwhile. */
function isBeingMade(name: string): boolean {
  const [, pid] = /\.(\d+)-/.exec(name) ?? [];
  if (pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    // Somebody else's process runs, too.
    return isSystemError(error, 'EPERM');
  }
}

async function lastUseOf(folder: string): Promise<number> {
  const { mtimeMs = 0 } = (await stat(folder).catch(() => undefined)) ?? {};
  return mtimeMs;
}

/** Under its key it is whole or not there at all, even for who is killed amid this. */
async function discard(folder: string): Promise<void> {
  const gone = `${folder}.${randomUUID()}`;
  try {
    await rename(folder, gone);
  } catch (error) {
    // Another process has done so.
    if (isSystemError(error, 'ENOENT')) return;
    throw error;
  }
  await rm(gone, { recursive: true, force: true });
}
