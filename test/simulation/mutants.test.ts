import { describe, expect, it } from 'vitest';
import * as scenarios from '../lambda/tick/scenarios.ts';
import { Integration } from '../scaffold/integration.ts';
import { ledgersIn } from '../scaffold/ledgers.ts';
import { MemoryLedger } from '../scaffold/memory-ledger.ts';
import { type BrokenParts, breakParts, type Mutant, mutants } from './mutants.ts';
import { simulate } from './simulate.ts';

/** The lives of a test run for a mutant. */
const mostLives = 60;

const told = Object.entries(scenarios.byMutant);
/** Some have a story and a life, to show that the simulation's witness sees the subjects of their stories. */
const hunted = Object.entries(mutants).filter(
  ([name, { seed }]) => seed !== undefined || !(name in scenarios.byMutant),
);

/** A life that notices the mutant. The life with the measured seed comes first. */
async function hunt(
  { amid: plan = {}, seed: first = 1 }: Mutant,
  broken: BrokenParts,
): Promise<number> {
  const others = Array.from({ length: mostLives }, (_, n) => n + 1);
  for (const seed of [first, ...others]) {
    const { findings } = await simulate(seed, { plan, broken });
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
      const { findings } = await simulate(seed, { plan: mutant.amid ?? {} });
      expect(findings).toEqual([]);
    },
  );

  it.each(told)('"%s" has another result of its story than without it', async (name, story) => {
    const broken = breakParts(mutants[name] ?? {});
    const memory = new MemoryLedger(broken.ledgerRules);
    const integration = new Integration(() => ledgersIn(memory));
    integration.mutate = broken.parts;
    const seen = await broken.during(() => story.tell(integration));
    expect(broken.unasked, 'replaced, and nobody asks for it').toEqual([]);
    expect(seen).not.toEqual(story.seen);
  });

  it('belongs to each story', () => {
    expect(Object.keys(mutants)).toEqual(expect.arrayContaining(told.map(([name]) => name)));
  });
});
