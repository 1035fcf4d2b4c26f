import { Command, InvalidArgumentError } from 'commander';
import { simulate } from './run.ts';

const whole = (text: string) => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a whole number');
  return Number(text);
};

const { runs, seed, rough } = new Command('simulate')
  .description('Lives of an integration in which anything can happen, checked against the truth.')
  .option('--runs <number>', 'how many lives', whole, 1_000)
  .option('--seed <number>', 'the first; each life has the next', whole, 1)
  .option('--rough', 'ticks always overlap, and leases are lost all the time', false)
  .parse()
  .opts<{ runs: number; seed: number; rough: boolean }>();

let broken = 0;
for (let life = 0; life < runs; life++) {
  const findings = await simulate(seed + life, { rough });
  if (findings.length > 0) {
    broken += 1;
    console.log(`seed ${seed + life}: ${findings.join('; ')}`);
    console.log(
      `  replay: npm run simulate -- --runs 1 --seed ${seed + life}${rough ? ' --rough' : ''}`,
    );
  }
  if ((life + 1) % 500 === 0) console.log(`${life + 1} lives, ${broken} with a broken promise`);
}
console.log(`${runs} lives from seed ${seed}: ${broken} with a broken promise`);
process.exitCode = broken === 0 ? 0 : 1;
