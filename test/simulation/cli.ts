import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { Command, InvalidArgumentError } from 'commander';
import { mutantNamed, whole } from './arguments.ts';
import { Coverages } from './coverage.ts';
import { livedBy } from './crew.ts';
import { type Lived, live, type Order, optionsOf } from './order.ts';
import * as plans from './plan.ts';
import { simulate } from './simulate.ts';

const planned = (text: string): Partial<plans.Plan> =>
  Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', value = ''] = part.split('=');
      const aspect = plans.aspects.find((one) => one === name);
      const number = Number(value);
      if (aspect === undefined || value === '' || Number.isNaN(number))
        throw new InvalidArgumentError(`${part}: one of ${plans.aspects.join(', ')}, and a number`);
      return [aspect, number];
    }),
  );

interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly workers: number;
  readonly rough: boolean;
  readonly restarts: boolean;
  readonly trace: boolean;
  readonly shrink: boolean;
  readonly with?: Partial<plans.Plan>;
  readonly mutant?: string;
}

const options = new Command('simulate')
  .description('Lives of an integration in which anything can happen, checked against the truth.')
  .option('--runs <number>', 'how many lives', whole, 1_000)
  .option('--seed <number>', 'the first; each life has the next', whole, 1)
  .option('--workers <number>', 'how many lives at a time', whole, availableParallelism())
  .option('--rough', 'ticks always overlap, and leases are lost all the time', false)
  .option('--restarts', 'ops restart the baseline time and again', false)
  .option('--with <aspects>', 'otherwise than the seed decides: ticks=3,born=6', planned)
  .option('--trace', 'prints each call and how each tick ended', false)
  .option('--no-shrink', 'leaves a life that broke a promise as long as it is')
  .option('--mutant <name>', 'breaks something, and ends with the first that notices', mutantNamed)
  .parse()
  .opts<Options>();

const { runs, seed, mutant, rough, restarts, trace } = options;
const plan = { ...(rough && plans.rough), ...(restarts && plans.restarting), ...options.with };
const again = mutant === undefined ? '' : ` --mutant ${mutant}`;

function* orders(): Generator<Order> {
  for (let life = seed; life < seed + runs; life++)
    yield { seed: life, plan, mutant, isShrunk: options.shrink };
}

async function* lives(): AsyncGenerator<Lived> {
  const workers = Math.max(1, Math.min(options.workers, runs));
  // With as many workers as cores, V8 has no core on which to collect a worker's garbage beside it.
  if (workers > 1) setFlagsFromString('--no-parallel-scavenge');
  if (!trace) return yield* livedBy(workers, orders());
  for (const order of orders()) {
    await simulate(order.seed, { ...optionsOf(order), trace: console.log });
    yield await live(order);
  }
}

const coverages = new Coverages();
let [lived, broken] = [0, 0];
for await (const life of lives()) {
  lived += 1;
  coverages.add(life.coverage);
  if (life.findings.length > 0) {
    broken += 1;
    print(life);
    if (mutant !== undefined) break;
  }
  if (lived % 500 === 0) console.log(`${lived} lives, ${broken} with a broken promise`);
}
if (mutant === undefined) console.log(`of ${lived} lives from seed ${seed}:\n${coverages}`);
console.log(`${lived} lives from seed ${seed}: ${broken} with a broken promise`);
process.exitCode = broken === 0 ? 0 : 1;

function print({ seed: life, shrunk, findings }: Lived): void {
  console.log(`seed ${life}: ${findings.slice(0, 10).join('; ')}`);
  if (shrunk === undefined) return;
  const changes = shrunk.option === '' ? '' : ` --with ${shrunk.option}`;
  console.log(`  again: npm run simulate -- --runs 1 --seed ${life}${changes}${again}`);
  for (const line of shrunk.story) console.log(`    ${line}`);
  console.log(`    found: ${shrunk.findings.slice(0, 10).join('; ')}`);
}
