import { describe, expect, it } from 'vitest';
import { Nowhere } from '../support/running.ts';
import { Running } from './program-runner.ts';

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
