import { spawnSync } from 'node:child_process';
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
let made = 0;

/** A copy of the shared assembly, which takes no seconds. */
const make = async (wanted: NotifierConfig, folder: string) => {
  made += 1;
  await cp(await cachedAssembly(wanted), folder, { recursive: true });
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'assembly-cache-'));
  made = 0;
});
afterEach(() => rm(directory, { recursive: true }));

describe('an assembly', () => {
  it('is made once for any number of simultaneous and later requests', async () => {
    const asked = [1, 2].map(() => cachedAssembly(config, { cache: directory, make }));
    const [one = '', other] = await Promise.all(asked);
    expect(other).toBe(one);
    expect(readAssembly(one).stackName).toBe('certification-notifier');
    expect(await readdir(directory)).toHaveLength(1);
    made = 0;
    await writeFile(join(one, 'mark'), '');
    expect(await cachedAssembly(config, { cache: directory, make })).toBe(one);
    expect(existsSync(join(one, 'mark'))).toBe(true);
    expect(made).toBe(0);
  });

  it('that is unfinished is given to nobody', async () => {
    const signal = AbortSignal.abort(new InterruptedError());
    const stopped = cachedAssembly(config, { cache: directory, signal });
    await expect(stopped).rejects.toThrow(InterruptedError);
    expect(await readdir(directory)).toEqual([]);
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
    const leftByPrune = async () => {
      const signal = AbortSignal.abort(new InterruptedError());
      await cachedAssembly(config, { cache: directory, signal }).catch(() => {});
      return (await readdir(directory)).sort();
    };

    it('is removed if it was used longest ago, so that 40 stay with the next', async () => {
      for (const [n, name] of keys.entries()) await put(name, ago(20 + n));
      expect(await leftByPrune()).toEqual(keys.slice(0, 39));
    });

    it('is removed at once if it is an unfinished rest, unless somebody works at it', async () => {
      await put(`${keys[0]}.unfinished`, ago(20));
      await put(`${keys[1]}.unfinished`, ago(1));
      expect(await leftByPrune()).toEqual([`${keys[1]}.unfinished`]);
    });

    it('stays while the process that makes it runs, by any clock, and is removed after its end', async () => {
      const { pid } = spawnSync(process.execPath, ['--version']);
      await put(`${keys[0]}.${process.pid}-unfinished`, ago(20));
      await put(`${keys[1]}.${pid}-unfinished`, ago(20));
      expect(await leftByPrune()).toEqual([`${keys[0]}.${process.pid}-unfinished`]);
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
