import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { deviationNames } from '../../../local/partner-sandbox/index.ts';
import { run } from '../../../local/partner-sandbox/run.ts';
import { compileCache } from '../../support/compile-cache.ts';
import { Nowhere, RunningProgram, unread } from '../../support/running.ts';

const started: RunningProgram[] = [];

function start(...options: string[]): RunningProgram {
  const sandbox = new RunningProgram(run, options);
  started.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  for (const sandbox of started.splice(0)) {
    sandbox.interrupt();
    await sandbox.ended;
  }
});

describe('the sandbox command', () => {
  it('prints its address and an example request, and ends cleanly on Ctrl-C', async () => {
    const cli = fileURLToPath(new URL('../../../local/partner-sandbox/cli.ts', import.meta.url));
    const child = spawn(process.execPath, [cli, '--port', '0', '--seed', '7', '--records', '25'], {
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    });
    const ended = once(child, 'close');
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += String(chunk);
      });
    try {
      while (!output.includes('Ctrl-C')) await once(child.stdout, 'data');
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
      const state = JSON.parse(await (await fetch(`${url}/_sandbox`)).text());
      expect(state).toMatchObject({ url, count: 25 });
      expect(output).toContain(state.credentials.clientId);
      expect(output).toContain(state.credentials.clientSecret);
      expect(output).toMatch(/curl .*\/oauth\/token/);
      child.kill('SIGINT');
      expect(await ended).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('explains each option on request', async () => {
    const { exitCode, stdout, stderr } = await start('--help').ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    for (const flag of 'port records seed time-zone until fault deviations'.split(' '))
      expect(stdout).toContain(`--${flag} <`);
  });

  it('lists the deviations with the statements that they break, on request', async () => {
    const { exitCode, stdout, stderr } = await start('--list-deviations').ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.split('\n').slice(0, -1)).toEqual(
      deviationNames.map((name) => expect.stringMatching(new RegExp(`^${name} +\\S.*`))),
    );
  });

  it('begins with the given faults, in their order', async () => {
    const flags = ['server-error', 'html:2', 'slow-body:always:40'].flatMap((fault) => [
      '--fault',
      fault,
    ]);
    const sandbox = start('--port', '0', '--records', '0', ...flags);
    await sandbox.shows(/Ctrl-C/);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(sandbox.output.text)?.[0];
    const faults = JSON.parse(await (await fetch(`${url}/_sandbox/faults`)).text());
    expect(faults).toMatchObject([
      { kind: 'server-error', times: 1, ms: 1000 },
      { kind: 'html', times: 2 },
      { kind: 'slow-body', times: 'always', ms: 40 },
    ]);
  });

  it.each([
    ['a flag that does not exist', ['--speed', '9']],
    ['an invalid port', ['--port', 'ninety']],
    ['a time zone that does not exist', ['--port', '0', '--time-zone', 'Mars/Olympus']],
    ['an unknown deviation', ['--deviations', 'moody']],
    ['an unknown fault', ['--fault', 'boredom']],
    ['a fault with an invalid number of times', ['--fault', 'reset:often']],
  ])('explains %s in one line and fails', async (_, options) => {
    const { exitCode, stdout, stderr } = await start(...options).ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^\S.*\n$/);
    expect(stderr).not.toContain('    at ');
  });

  it('explains an occupied port', async () => {
    const first = start('--port', '0', '--records', '0');
    await first.shows(/Ctrl-C/);
    const port = /127\.0\.0\.1:(\d+)/.exec(first.output.text)?.[1] ?? '';
    const { exitCode, stdout, stderr } = await start('--port', port, '--records', '0').ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^error: Port ${port} is taken\\..*\n$`));
  });
});

describe('without room for its output', () => {
  it('the sandbox fails on a full disk, and says so', async () => {
    const output = new Nowhere('ENOSPC');
    const { exitCode, stderr } = await new RunningProgram(run, ['--list-deviations'], { output })
      .ended;
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr:
        'error: The output cannot be written (ENOSPC). Make room for it, or send it elsewhere.\n',
    });
  });

  it('the sandbox ends without a failure when nobody reads it any more', async () => {
    const output = new Nowhere('EPIPE');
    const { exitCode, stderr } = await new RunningProgram(run, ['--list-deviations'], { output })
      .ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });

  it('the sandbox stops when nobody can read its address', async () => {
    const output = new Nowhere('EPIPE');
    const flags = ['--port', '0', '--records', '0'];
    const { exitCode, stderr } = await new RunningProgram(run, flags, { output }).ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });

  it('the sandbox fails as usual when its errors cannot be written', async () => {
    const errors = new Nowhere('EPIPE');
    const { exitCode, stdout } = await new RunningProgram(run, ['--speed'], { errors }).ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  });

  it('the sandbox ends quietly as a process whose output is closed', async () => {
    const entry = join(import.meta.dirname, '../../../local/partner-sandbox/cli.ts');
    expect(await unread(entry, '--list-deviations')).toEqual({ exitCode: 0, stderr: '' });
  });
});
