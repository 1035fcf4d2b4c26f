import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../../local/partner-sandbox/run.ts';
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
