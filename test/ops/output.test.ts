import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Nowhere } from '../support/running.ts';
import { Running } from './running.ts';

const lost = `error: The output could not be written (ENOSPC).
  The command may have done its work all the same. Make room, or write to another place, and run it again.
  A retry can help. (output-lost)
`;

describe('without room for the output', () => {
  it.each(['completion bash', 'status --help', 'tick --json'])(
    '%s ends as a failure, and says so where it can write',
    async (args) => {
      const { exitCode, stderr } = await new Running(args, { output: new Nowhere('ENOSPC') }).ended;
      expect({ exitCode, stderr }).toEqual({ exitCode: 5, stderr: lost });
    },
  );
});

it('a reader who has closed the output causes no failure', async () => {
  const { exitCode, stderr } = await new Running('--help', { output: new Nowhere('EPIPE') }).ended;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
});

/** A full disk. */
const full = '/dev/full';

describe.skipIf(!existsSync(full))('a process on a full disk', () => {
  const program = fileURLToPath(new URL('../../ops/cli.ts', import.meta.url));

  /** @param where the targets of standard output and standard error */
  function run(args: string, where: (file: number) => { stdout?: number; stderr?: number }) {
    const file = openSync(full, 'w');
    const { stdout: out = 'pipe', stderr: err = 'pipe' } = where(file);
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args.split(' ')], {
      stdio: ['ignore', out, err],
      env: { PATH: process.env.PATH, NO_COLOR: '1' },
      encoding: 'utf8',
    });
    closeSync(file);
    return { status, stdout, stderr };
  }

  it('ends as a failure, and says so', () => {
    const { status, stderr } = run('status --help', (stdout) => ({ stdout }));
    expect({ status, stderr }).toEqual({ status: 5, stderr: lost });
  });

  it('ends with the failure that it cannot write', () => {
    expect(run('tick', (stderr) => ({ stderr }))).toMatchObject({ status: 2, stdout: '' });
  });

  it('ends as a failure that it cannot even report', () => {
    const ended = run('status --help', (file) => ({ stdout: file, stderr: file }));
    expect(ended).toMatchObject({ status: 5 });
  });
});
