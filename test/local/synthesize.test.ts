import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseConfig } from '../../infra/config.ts';
import { synthesize } from '../../local/synthesize.ts';
import { InterruptedError } from '../../ops/errors.ts';

const config = parseConfig({
  integrations: [{ name: 'a', baseUrl: 'https://partner.example.org', timeZone: 'UTC' }],
});
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'synthesize-'));
});
afterEach(() => rm(directory, { recursive: true }));

test.skipIf(process.platform === 'win32')(
  'a synthesis that is stopped has ended with all its processes',
  async () => {
    const stopping = new AbortController();
    const synthesis = synthesize(config, directory, { signal: stopping.signal });
    const ended = expect(synthesis).rejects.toThrow(InterruptedError);
    await vi.waitFor(() => expect(processes()).toMatch(/bundling.program\.ts/), {
      timeout: 20_000,
      interval: 20,
    });
    stopping.abort(new InterruptedError());
    await ended;
    expect(processes()).toBe('');
  },
);

test('a synthesis that is stopped before it begins writes nothing', async () => {
  const synthesis = synthesize(config, directory, {
    signal: AbortSignal.abort(new InterruptedError()),
  });
  await expect(synthesis).rejects.toThrow(InterruptedError);
  expect(await readdir(directory)).toEqual([]);
});

test('a stack that cannot be synthesized names the reason', async () => {
  const synthesis = synthesize({ ...config, stackName: '!' }, directory);
  await expect(synthesis).rejects.toThrow(/could not be synthesized:\n.*Stack name must match/s);
});

/** The command lines that name the directory. */
function processes(): string {
  return spawnSync('ps', ['-A', '-o', 'args'], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line.includes(directory))
    .join('\n');
}
