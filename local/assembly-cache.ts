import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Temporal } from 'temporal-polyfill';
import type { NotifierConfig } from '../infra/config.ts';
import { isSystemError } from './errors.ts';
import { synthesize } from './synthesize.ts';

const checkout = fileURLToPath(new URL('..', import.meta.url));

/** Goes with the packages that it was made with. */
const assemblyCache = join(checkout, 'node_modules/.cache/certification-notifier/assemblies');

/** All that a synthesis reads beside its configuration; of the packages, what npm says is installed. */
const sources = [
  'infra',
  'lambda',
  'local/synthesize.ts',
  'cdk.json',
  'package.json',
  'node_modules/.package-lock.json',
];

/** Folders of some 3 MB. */
const mostKept = 40;
/** Whoever was given a folder reads of it as long as it runs. */
const inUse = Temporal.Duration.from({ hours: 6 });

/**
 * The folder of the assembly of a configuration. It is synthesized at the first time, and given out
 * again for as long as configuration, sources and packages are the same, byte by byte. Nobody may
 * write into it. Several processes may ask at once: the first one to be done is believed.
 *
 * @throws StartError, the reason of `signal`, or the system's error when the cache cannot be written
 */
export async function cachedAssembly(
  config: NotifierConfig,
  { signal, cache = assemblyCache }: { signal?: AbortSignal; cache?: string } = {},
): Promise<string> {
  const key = await keyOf(config);
  const folder = join(cache, key);
  if (await wasMade(folder)) return folder;
  await mkdir(cache, { recursive: true });
  await prune(cache);
  const unfinished = await mkdtemp(`${folder}.`);
  try {
    await synthesize(config, unfinished, signal);
    // Somebody may have edited a file meanwhile; then nobody knows which of both it was made of.
    if ((await keyOf(config)) === key) {
      await rename(unfinished, folder).catch((error) => {
        // Another process was faster.
        if (!isSystemError(error, 'ENOTEMPTY') && !isSystemError(error, 'EEXIST')) throw error;
      });
      return folder;
    }
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return cachedAssembly(config, { ...(signal && { signal }), cache });
}

/** The same, or a synthesis into an empty folder where the packages' folder cannot be written. */
export async function assemblyFor(
  config: NotifierConfig,
  spare: string,
  signal?: AbortSignal,
): Promise<string> {
  try {
    return await cachedAssembly(config, signal && { signal });
  } catch (error) {
    const isReadOnly = ['EACCES', 'EPERM', 'EROFS'].some((code) => isSystemError(error, code));
    if (!isReadOnly) throw error;
    await synthesize(config, spare, signal);
    return spare;
  }
}

/** Of a configuration and the sources in a folder. */
export async function keyOf(config: NotifierConfig, root = checkout): Promise<string> {
  // Of the environment, the CDK reads what is called after it.
  const variables = Object.entries(process.env).filter(([name]) => name.startsWith('CDK_'));
  const given = JSON.stringify([process.version, variables.sort(), config]);
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

/** Notes that it is used once more. */
async function wasMade(folder: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(folder, now, now);
    return true;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return false;
    throw error;
  }
}

/** What a process that was killed has left unfinished goes like the rest. */
async function prune(cache: string): Promise<void> {
  const folders = await Promise.all(
    (await readdir(cache)).map(async (name) => {
      const folder = join(cache, name);
      const used = await stat(folder).catch(() => undefined);
      return { folder, usedMs: used?.mtimeMs ?? 0 };
    }),
  );
  const notSince = Date.now() - inUse.total('milliseconds');
  const oldest = folders.sort((a, b) => b.usedMs - a.usedMs).slice(mostKept);
  for (const { folder, usedMs } of oldest)
    if (usedMs < notSince) await rm(folder, { recursive: true, force: true });
}
