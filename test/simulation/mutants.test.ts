import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { mutants, mutated } from './mutants.ts';

const cli = fileURLToPath(new URL('cli.ts', import.meta.url));

/** What the simulation says of a mutant, in a process of its own. */
function hunt(mutant: string, runs: number): Promise<string> {
  return new Promise((resolve) => {
    const args = [cli, '--mutant', mutant, '--runs', String(runs)];
    execFile(process.execPath, args, (_, stdout) => resolve(stdout));
  });
}

/** Those that a few lives are enough for; the others take minutes, or have a test of their own. */
const soon = Object.entries(mutants).filter(([, { lives }]) => lives !== undefined && lives <= 40);

describe('the simulation bites', () => {
  it.each(Object.entries(mutants))('"%s" is a mutant of the source as it is', (name, mutant) => {
    expect(mutated(name, mutant)).not.toBe('');
  });

  it.each(soon)(
    '"%s" is caught',
    async (name) => {
      expect(await hunt(name, 60)).toMatch(/: 1 with a broken promise/);
    },
    120_000,
  );
});
