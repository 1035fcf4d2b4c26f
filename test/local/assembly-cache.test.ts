import { existsSync } from 'node:fs';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type NotifierConfig, parseConfig } from '../../infra/config.ts';
import { cachedAssembly, keyOf } from '../../local/assembly-cache.ts';
import { readAssembly } from '../../local/aws/assembly.ts';
import { InterruptedError } from '../../ops/errors.ts';

const district = { name: 'a', baseUrl: 'https://partner.example.org', timeZone: 'UTC' };
const config = parseConfig({ integrations: [district] });
let directory: string;

/** A copy of the shared assembly, which takes no seconds. */
const make = async (wanted: NotifierConfig, folder: string) =>
  cp(await cachedAssembly(wanted), folder, { recursive: true });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'assembly-cache-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('an assembly', () => {
  it('is made once for any number of simultaneous and later requests', async () => {
    const ask = () => cachedAssembly(config, { cache: directory, make });
    const [one = '', other] = await Promise.all([ask(), ask()]);
    expect(other).toBe(one);
    expect(readAssembly(one).stackName).toBe('certification-notifier');
    expect(await readdir(directory)).toHaveLength(1);
    await writeFile(join(one, 'mark'), '');
    expect(await ask()).toBe(one);
    expect(existsSync(join(one, 'mark'))).toBe(true);
  });

  it('that was deleted in part is made again', async () => {
    const folder = await cachedAssembly(config, { cache: directory, make });
    await rm(join(folder, 'manifest.json'));
    await writeFile(join(folder, 'rest'), '');
    expect(await cachedAssembly(config, { cache: directory, make })).toBe(folder);
    expect(readAssembly(folder).stackName).toBe('certification-notifier');
    expect(existsSync(join(folder, 'rest'))).toBe(false);
    expect(await readdir(directory)).toHaveLength(1);
  });

  it('that an edit overtook is made again, under the key of its sources', async () => {
    let made = 0;
    const edited = async (_: NotifierConfig, folder: string) => {
      made += 1;
      await writeFile(join(folder, 'manifest.json'), String(made));
      // The CDK reads this variable, as it reads the sources.
      vi.stubEnv('CDK_EDITED', 'meanwhile');
    };
    const { signal } = new AbortController();
    const folder = await cachedAssembly(config, { cache: directory, make: edited, signal });
    expect(made).toBe(2);
    expect(await readFile(join(folder, 'manifest.json'), 'utf8')).toBe('2');
    expect(basename(folder)).toBe(await keyOf(config));
    expect(await readdir(directory)).toEqual([basename(folder)]);
  });

  it('is unreadable for other users of the machine', async () => {
    const cache = join(directory, 'cache');
    await mkdir(cache, { mode: 0o755 });
    const folder = await cachedAssembly(config, { cache, make });
    for (const one of [cache, folder]) expect((await stat(one)).mode & 0o777).toBe(0o700);
  });

  describe('among many', () => {
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const put = async (name: string, usedAt: Date) => {
      await mkdir(join(directory, name));
      await utimes(join(directory, name), usedAt, usedAt);
    };
    const keys = Array.from({ length: 50 }, (_, n) => String(n).padStart(32, '0'));
    /** The folders that are left after the next one is stopped, which leaves nothing unfinished. */
    const leftByPrune = async () => {
      const signal = AbortSignal.abort(new InterruptedError());
      const stopped = cachedAssembly(config, { cache: directory, signal });
      await expect(stopped).rejects.toThrow(InterruptedError);
      return (await readdir(directory)).sort();
    };

    it('is removed if it was used longest ago, finished or not, so that 40 stay with the next', async () => {
      const names = keys.map((key, n) => (n % 2 === 0 ? key : `${key}.unfinished`));
      for (const [n, name] of names.entries()) await put(name, ago(20 + n));
      expect(await leftByPrune()).toEqual(names.slice(0, 39));
    });

    it('stays beyond that number while somebody uses it or works at it', async () => {
      for (const name of keys) await put(name, ago(1));
      expect(await leftByPrune()).toEqual(keys);
    });
  });
});

describe('the key of an assembly', () => {
  const files = [
    'infra/constructs/ledger.ts',
    'lambda/poll.ts',
    'local/synthesize.ts',
    'local/partner-sandbox/function.ts',
    'cdk.json',
    'package.json',
    'tsconfig.json',
    'node_modules/.package-lock.json',
  ];
  const put = async (file: string, content: string) => {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await writeFile(join(directory, file), content);
  };
  const key = () => keyOf(config, { root: directory });

  beforeEach(async () => {
    for (const file of files) await put(file, `content of ${file}`);
  });

  it.each(files)('differs with the contents of %s', async (file) => {
    const before = await key();
    await put(file, 'other content');
    expect(await key()).not.toBe(before);
  });

  it('differs with a file that was added or renamed', async () => {
    const before = await key();
    await put('lambda/tick/new.ts', '');
    const added = await key();
    await rm(join(directory, 'lambda/tick/new.ts'));
    await put('lambda/tick/newer.ts', '');
    expect(new Set([before, added, await key()]).size).toBe(3);
  });
});
