import { describe, expect, it } from 'vitest';
import { type BrokenParts, breakParts, type Mutant, mutants } from './mutants.ts';
import { simulate } from './simulate.ts';

/** Those that a few lives are enough for; the others take minutes, or have a test of their own. */
const soon = Object.entries(mutants).filter(([, { lives }]) => lives !== undefined && lives <= 41);

/** As many as a test run has for a mutant. */
const mostLives = 60;

/** The first life that notices. */
async function hunt({ amid }: Mutant, broken: BrokenParts): Promise<number> {
  for (let seed = 1; seed <= mostLives; seed++) {
    const { findings } = await simulate(seed, { ...amid, broken });
    if (findings.length > 0) return seed;
  }
  throw new Error(`nothing noticed in ${mostLives} lives`);
}

describe('the simulation bites', () => {
  it.each(soon)(
    '"%s" is caught',
    async (_, mutant) => {
      const broken = breakParts(mutant);
      const seed = await hunt(mutant, broken);
      expect([...broken.unasked], 'what it replaces and nobody asks for').toEqual([]);
      const { findings } = await simulate(seed, mutant.amid);
      expect(findings, 'the same life with nothing broken').toEqual([]);
    },
    120_000,
  );
});
