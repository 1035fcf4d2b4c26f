import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { startMeasured } from '../../../bench/peers/measured-process.ts';
import { peerContender } from '../../../bench/peers/peer-watcher.ts';
import { inTemporaryFolder } from '../../../bench/temporary-folder.ts';

afterEach(() => void vi.restoreAllMocks());

/** A script in place of Python, with commands of the shell. */
async function pythonThat(folder: string, command: string): Promise<string> {
  const python = join(folder, 'python');
  await writeFile(python, `#!/bin/sh\n${command}\n`);
  await chmod(python, 0o755);
  return python;
}

it('a process that works for too long is killed, and counts as failed', async () => {
  const told = vi.spyOn(console, 'error').mockReturnValue();
  await inTemporaryFolder(async (folder) => {
    const python = await pythonThat(folder, 'exec sleep 60');
    const wanted = { python, folder, command: ['sync'], variables: { PATH: '/usr/bin:/bin' } };
    expect(await startMeasured({ ...wanted, limitMs: 100 }).ended).toBe('failed');
  });
  expect(told).toHaveBeenCalledWith('sync was at work after 100 ms, and was killed');
});

it('a killed process is reported as killed, without a limit', async () => {
  const told = vi.spyOn(console, 'error').mockReturnValue();
  await inTemporaryFolder(async (folder) => {
    const python = await pythonThat(folder, 'exec sleep 60');
    const wanted = { python, folder, command: ['sync'], variables: { PATH: '/usr/bin:/bin' } };
    const { kill, ended } = startMeasured(wanted);
    expect(kill()).toBe(true);
    expect(await ended).toBe('killed');
    expect(kill()).toBe(false);
  });
  expect(told).not.toHaveBeenCalled();
});

it('a peer is not asked after its first sync failed', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  await inTemporaryFolder(async (folder) => {
    const python = await pythonThat(folder, 'exit 1');
    const environment = { python, bin: folder };
    const enter = peerContender({ peer: 'singer', mode: 'look-back', environment, folder });
    const credentials = { clientId: 'a', clientSecret: 'b' };
    const watcher = await enter({ url: 'http://127.0.0.1:9', credentials }, '500');
    await expect(watcher.start()).rejects.toThrow('The first sync of singer failed.');
  });
});
