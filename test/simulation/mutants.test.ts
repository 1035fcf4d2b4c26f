import { describe, expect, it } from 'vitest';
import * as scenarios from '../lambda/tick/scenarios.ts';
import { Integration } from '../scaffold/integration.ts';
import { type BrokenParts, breakParts, intact, type Mutant, mutants } from './mutants.ts';
import { simulate } from './simulate.ts';

/** As many as a test run has for a mutant. */
const mostLives = 60;

const hunted = Object.entries(mutants).filter(
  ([, { lives }]) => lives !== undefined && lives <= mostLives,
);
const told = Object.entries(scenarios.byMutant);

/** A life that notices. The one that noticed when it was measured comes first. */
async function hunt({ amid, lives = 1 }: Mutant, broken: BrokenParts): Promise<number> {
  const others = Array.from({ length: mostLives }, (_, n) => n + 1);
  for (const seed of [lives, ...others]) {
    const { findings } = await simulate(seed, { ...amid, broken });
    if (findings.length > 0) return seed;
  }
  throw new Error(`nothing noticed in ${mostLives} lives`);
}

describe('a mutant', () => {
  it.each(hunted)(
    '"%s" is caught by the simulation, which finds nothing in the same life without it',
    async (_, mutant) => {
      const broken = breakParts(mutant);
      const seed = await hunt(mutant, broken);
      expect(broken.unasked, 'replaced, and nobody asks for it').toEqual([]);
      const { findings } = await simulate(seed, { ...mutant.amid, broken: intact });
      expect(findings).toEqual([]);
    },
    120_000,
  );

  it.each(told)('"%s" does not see in its story what is seen without it', async (name, story) => {
    const broken = breakParts(mutants[name] ?? {});
    const integration = new Integration();
    integration.mutate = broken.parts;
    const seen = await story.tell(integration);
    expect(broken.unasked, 'replaced, and nobody asks for it').toEqual([]);
    expect(seen).not.toEqual(story.seen);
  });

  it('is hunted or told a story, whichever it is', () => {
    const names = [...hunted, ...told].map(([name]) => name);
    expect(names.sort()).toEqual(Object.keys(mutants).sort());
  });
});
