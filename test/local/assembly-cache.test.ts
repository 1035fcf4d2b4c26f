import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../../infra/config.ts';
import { cachedAssembly, keyOf } from '../../local/assembly-cache.ts';
import { readAssembly } from '../../local/aws/assembly.ts';
import { StoppedError } from '../../local/errors.ts';

const district = { name: 'a', baseUrl: 'https://platform.example.org', timeZone: 'UTC' };
const config = parseConfig({ integrations: [district] });
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'assembly-cache-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('an assembly', () => {
  it('is made once, however many ask for it at once and later', async () => {
    const asked = [1, 2].map(() => cachedAssembly(config, { cache: directory }));
    const [one = '', other] = await Promise.all(asked);
    expect(other).toBe(one);
    expect(readAssembly(one).stackName).toBe('certification-notifier');
    expect(await readdir(directory)).toHaveLength(1);
    await writeFile(join(one, 'mark'), '');
    expect(await cachedAssembly(config, { cache: directory })).toBe(one);
    expect(existsSync(join(one, 'mark'))).toBe(true);
  });

  it('that is not finished is given to nobody', async () => {
    const signal = AbortSignal.abort(new StoppedError());
    const stopped = cachedAssembly(config, { cache: directory, signal });
    await expect(stopped).rejects.toThrow(StoppedError);
    expect(await readdir(directory)).toEqual([]);
  });

  it('that nobody has used for long goes when there are many', async () => {
    const old = new Date('2026-11-21T12:00:00Z');
    const names = Array.from({ length: 50 }, (_, index) => `assembly-${index}`);
    for (const [index, name] of names.entries()) {
      await mkdir(join(directory, name));
      if (index >= 5) await utimes(join(directory, name), old, old);
    }
    const signal = AbortSignal.abort(new StoppedError());
    await cachedAssembly(config, { cache: directory, signal }).catch(() => {});
    const kept = await readdir(directory);
    expect(kept).toHaveLength(40);
    expect(kept).toEqual(expect.arrayContaining(names.slice(0, 5)));
  });
});

describe('what an assembly is known by', () => {
  const files = [
    'infra/constructs/ledger.ts',
    'lambda/poll.ts',
    'local/synthesize.ts',
    'cdk.json',
    'package.json',
    'node_modules/.package-lock.json',
  ];
  const put = async (file: string, content: string) => {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await writeFile(join(directory, file), content);
  };
  const key = () => keyOf(config, directory);

  beforeEach(async () => {
    for (const file of files) await put(file, `content of ${file}`);
  });

  it('is the same for the same configuration and files', async () => {
    expect(await key()).toBe(await key());
  });

  it('differs with the configuration', async () => {
    const other = parseConfig({ integrations: [{ ...district, every: 5 }] });
    expect(await keyOf(other, directory)).not.toBe(await key());
  });

  it.each(files)('differs with the content of %s', async (file) => {
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
