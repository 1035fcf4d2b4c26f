import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../../bench/temporary-folder.ts';

it('a temporary folder is removed in the end, also after a failure', async () => {
  let folder = '';
  const using = inTemporaryFolder(async (given) => {
    folder = given;
    expect(existsSync(given)).toBe(true);
    throw new Error('no use');
  });
  await expect(using).rejects.toThrow('no use');
  expect(existsSync(folder)).toBe(false);
});

it.each(['SIGINT', 'SIGTERM'] as const)(
  'a temporary folder is removed when the process ends by %s',
  async (signal) => {
    const module = new URL('../../bench/temporary-folder.ts', import.meta.url).href;
    const program = `
    import { endBySignals, inTemporaryFolder } from '${module}';
    endBySignals();
    await inTemporaryFolder(async (folder) => {
      console.log(folder);
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    });`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line]: unknown[] = await once(child.stdout.setEncoding('utf8'), 'data');
    const folder = String(line).trim();
    expect(existsSync(folder)).toBe(true);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([130, null]);
    expect(existsSync(folder)).toBe(false);
  },
);
