import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

const cli = fileURLToPath(new URL('../../../local/partner-sandbox/cli.ts', import.meta.url));
const started: ChildProcess[] = [];

function run(...options: string[]) {
  const child = spawn(process.execPath, [cli, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output.text += String(chunk);
    });
  }
  return { child, output, ended: once(child, 'close') };
}

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

describe('the sandbox command', () => {
  it('prints where it is and how to ask it, and ends cleanly on Ctrl-C', async () => {
    const { child, output, ended } = run('--port', '0', '--seed', '7', '--records', '25');
    while (!output.text.includes('Ctrl-C')) await once(child.stdout, 'data');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output.text)?.[0];
    const state = JSON.parse(await (await fetch(`${url}/_sandbox`)).text());
    expect(state).toMatchObject({ url, count: 25 });
    expect(output.text).toContain(state.credentials.clientId);
    expect(output.text).toContain(state.credentials.clientSecret);
    expect(output.text).toMatch(/curl .*\/oauth\/token/);
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  });

  it.each([
    ['a flag that does not exist', ['--speed', '9']],
    ['a port that is none', ['--port', 'ninety']],
    ['a time zone that does not exist', ['--port', '0', '--time-zone', 'Mars/Olympus']],
    ['an unknown deviation', ['--deviations', 'moody']],
    ['an unknown fault', ['--fault', 'boredom']],
  ])('explains %s in one line and fails', async (_, options) => {
    const { output, ended } = run(...options);
    expect(await ended).toEqual([1, null]);
    expect(output.text.trim().split('\n')).toHaveLength(1);
    expect(output.text).not.toContain('    at ');
  });

  it('explains a port that is taken', async () => {
    const first = run('--port', '0', '--records', '0');
    while (!first.output.text.includes('Ctrl-C')) await once(first.child.stdout, 'data');
    const port = /127\.0\.0\.1:(\d+)/.exec(first.output.text)?.[1] ?? '';
    const second = run('--port', port, '--records', '0');
    expect(await second.ended).toEqual([1, null]);
    expect(second.output.text.trim()).toMatch(new RegExp(`^Port ${port} is taken\\..*$`));
  });
});
