import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startMeasured } from '../../bench/peers/measured-process.ts';
import { inTemporaryFolder } from '../../bench/temporary-folder.ts';

/** Starts a program of a bench. @returns the process with its first line */
async function started(module: string, program: string) {
  const source = program.replace('MODULE', new URL(`../../bench/${module}`, import.meta.url).href);
  const flags = ['--no-warnings', '--input-type=module', '--eval', source];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line]: unknown[] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { child, line: String(line).trim() };
}

it('a killed bench leaves no serving program behind', async () => {
  const { child, line: url } = await started(
    'child.ts',
    `import { partnerReady, startChild } from 'MODULE';
     const wanted = { records: 10, until: '2026-11-20' };
     console.log((await startChild('partner-process.ts', wanted, partnerReady)).ready.url);
     setTimeout(() => {}, 60_000);`,
  );
  const asked = () => fetch(`${url}/_sandbox/requests`);
  expect((await asked()).status).toBe(200);
  child.kill('SIGKILL');
  await expect.poll(() => asked().catch(() => 'gone'), { timeout: 5_000 }).toBe('gone');
});

it.each(['SIGINT', 'SIGTERM'] as const)(
  'a temporary folder is removed after %s',
  async (signal) => {
    const { child, line: folder } = await started(
      'temporary-folder.ts',
      `import { endBySignals, inTemporaryFolder } from 'MODULE';
     endBySignals();
     await inTemporaryFolder(async (folder) => {
       console.log(folder);
       await new Promise((resolve) => setTimeout(resolve, 60_000));
     });`,
    );
    expect(existsSync(folder)).toBe(true);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([130, null]);
    expect(existsSync(folder)).toBe(false);
  },
);

it('a peer that works for too long is killed, and counts as failed', async () => {
  const told = vi.spyOn(console, 'error').mockReturnValue();
  await inTemporaryFolder(async (folder) => {
    const python = join(folder, 'python');
    await writeFile(python, '#!/bin/sh\nexec sleep 60\n');
    await chmod(python, 0o755);
    const wanted = { python, folder, command: ['sync'], variables: { PATH: '/usr/bin:/bin' } };
    expect(await startMeasured({ ...wanted, limitMs: 100 }).ended).toBe('failed');
  });
  expect(told).toHaveBeenCalledWith('sync was at work after 100 ms, and was killed');
});
