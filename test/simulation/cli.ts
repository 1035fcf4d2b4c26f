import { Command, InvalidArgumentError } from 'commander';
import { Coverages } from './coverage.ts';
import { breakParts, mutants } from './mutants.ts';
import { simulate } from './simulate.ts';

const whole = (text: string) => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a whole number');
  return Number(text);
};

interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly rough: boolean;
  readonly restarts: boolean;
  readonly trace: boolean;
  readonly mutant?: string;
}

const options = new Command('simulate')
  .description('Lives of an integration in which anything can happen, checked against the truth.')
  .option('--runs <number>', 'how many lives', whole, 1_000)
  .option('--seed <number>', 'the first; each life has the next', whole, 1)
  .option('--rough', 'ticks always overlap, and leases are lost all the time', false)
  .option('--restarts', 'operators have everything read anew, time and again', false)
  .option('--trace', 'prints each call and how each tick ended', false)
  .option('--mutant <name>', 'breaks something, and ends with the first life that notices')
  .parse()
  .opts<Options>();

const { runs, seed, trace, mutant } = options;
const hunted = mutant === undefined ? undefined : mutants[mutant];
if (mutant !== undefined && hunted === undefined)
  throw new Error(`no such mutant; there are ${Object.keys(mutants).join(', ')}`);
const amid = {
  ...hunted?.amid,
  ...(hunted && { broken: breakParts(hunted) }),
  ...(options.rough && { rough: true }),
  ...(options.restarts && { restarts: true }),
};

const coverages = new Coverages();
const again = [
  ...(options.rough ? ['--rough'] : []),
  ...(options.restarts ? ['--restarts'] : []),
  ...(mutant ? ['--mutant', mutant] : []),
].join(' ');
let broken = 0;
let lived = 0;
while (lived < runs && (mutant === undefined || broken === 0)) {
  const life = seed + lived;
  const { findings, coverage } = await simulate(life, {
    ...amid,
    ...(trace && { trace: console.log }),
  });
  lived += 1;
  coverages.add(coverage);
  if (findings.length > 0) {
    broken += 1;
    console.log(`seed ${life}: ${findings.slice(0, 10).join('; ')}`);
    console.log(`  replay: npm run simulate -- --runs 1 --seed ${life} ${again}`.trimEnd());
  }
  if (lived % 500 === 0) console.log(`${lived} lives, ${broken} with a broken promise`);
}
if (mutant === undefined) console.log(`of ${lived} lives from seed ${seed}:\n${coverages}`);
console.log(`${lived} lives from seed ${seed}: ${broken} with a broken promise`);
process.exitCode = broken === 0 ? 0 : 1;
