import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../ops/cli.ts', import.meta.url));
/** A disk without room. */
const full = '/dev/full';

/** @param where standard output and standard error go */
function run(args: string, where: { stdout?: number; stderr?: number }) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args.split(' ')], {
    stdio: ['ignore', where.stdout ?? 'pipe', where.stderr ?? 'pipe'],
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe.skipIf(!existsSync(full))('on a disk without room', () => {
  const onIt = <Result>(work: (file: number) => Result) => {
    const file = openSync(full, 'w');
    try {
      return work(file);
    } finally {
      closeSync(file);
    }
  };

  it.each(['completion bash', 'status --help', 'tick --json'])(
    '%s ends as a failure, and says so where that can be written',
    (args) => {
      const { status, stderr } = onIt((stdout) => run(args, { stdout }));
      expect(stderr).toBe(`error: The output could not be written (ENOSPC).
  What was asked for may have been done all the same. Make room, or write to another place, and run it again.
  A retry can help. (output-lost)
`);
      expect(status).toBe(5);
    },
  );

  it('a failure that cannot be told is still the one that it is', () => {
    expect(onIt((stderr) => run('tick', { stderr }))).toMatchObject({ status: 2, stdout: '' });
  });
});
