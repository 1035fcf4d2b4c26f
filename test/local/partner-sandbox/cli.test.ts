import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../../local/partner-sandbox/run.ts';
import { compileCache } from '../../support/compile-cache.ts';
import { RunningProgram } from '../../support/running.ts';

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
  it('prints where it is and how to ask it, and ends cleanly on Ctrl-C', async () => {
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

  it.each([
    ['a flag that does not exist', ['--speed', '9']],
    ['a port that is none', ['--port', 'ninety']],
    ['a time zone that does not exist', ['--port', '0', '--time-zone', 'Mars/Olympus']],
    ['an unknown deviation', ['--deviations', 'moody']],
    ['an unknown fault', ['--fault', 'boredom']],
  ])('explains %s in one line and fails', async (_, options) => {
    const { exitCode, stdout, stderr } = await start(...options).ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^\S.*\n$/);
    expect(stderr).not.toContain('    at ');
  });

  it('explains a port that is taken', async () => {
    const first = start('--port', '0', '--records', '0');
    await first.shows(/Ctrl-C/);
    const port = /127\.0\.0\.1:(\d+)/.exec(first.output.text)?.[1] ?? '';
    const { exitCode, stdout, stderr } = await start('--port', port, '--records', '0').ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^Port ${port} is taken\\..*\n$`));
  });
});
