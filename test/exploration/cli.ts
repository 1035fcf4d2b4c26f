import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { mutantNamed, whole } from '../simulation/arguments.ts';
import { breakParts, mutants } from '../simulation/mutants.ts';
import { brokenBy } from '../simulation/order.ts';
import { findingsOf } from './explore.ts';
import { type Hunted, hunt } from './hunt.ts';
import { type Found, type Search, search } from './search.ts';
import { type Budget, kinds, nothing } from './seen.ts';

const daysOf = (text: string) => {
  if (!/^[01]{0,3}$/.test(text)) throw new InvalidArgumentError('a digit each: 0 or 1');
  return [...text].map(Number);
};

const mutantsNamed = (names: string) =>
  names === 'all' ? Object.keys(mutants) : names.split(',').map(mutantNamed);

interface Options extends Budget, Pick<Search, 'ticks' | 'workers'> {
  readonly rows: number;
  readonly born: readonly number[];
  readonly new: boolean;
  readonly minutes: number;
  readonly states: number;
  readonly mutant?: string;
  readonly mutants?: readonly string[];
  readonly trail?: string;
}

const options = new Command('npm run explore --')
  .description('Every execution of a small world within these budgets, checked against the truth.')
  .option('--moves <number>', 'moves of the partner', whole, 2)
  .option('--faults <number>', 'calls that may fail, or whose answer may be lost', whole, 1)
  .option('--deaths <number>', 'ticks that may die', whole, 1)
  .option('--overlaps <number>', 'switches from one tick to another', whole, 2)
  .option('--waits <number>', 'of the clock, until an audit or a second look is due', whole, 0)
  .option('--ticks <number>', 'ticks, one after the other, in which this happens', whole, 1)
  .option('--rows <number>', 'rows of a page of the list', whole, 2)
  .option('--born <days>', 'when each was certified: 0 is today, 1 is long ago', daysOf, [0, 0])
  .option('--new', 'from the very first tick on; else from a quiet ledger', false)
  .option('--minutes <number>', 'the time limit, after which the rest is counted', whole, 120)
  .option('--workers <number>', 'how many executions at a time', whole, availableParallelism())
  .option('--states <number>', 'room for so many distinct states', whole, 40_000_000)
  .option('--mutant <name>', 'breaks something, and ends with the first that notices', mutantNamed)
  .option('--mutants <names>', 'all, or some: the smallest budgets that notice each', mutantsNamed)
  .option('--trail <choices>', 'one execution again, as it was printed')
  .parse()
  .opts<Options>();

const { ticks, minutes, workers, states, mutant } = options;
const { moves, faults, deaths, overlaps, waits } = options;
const budget = { moves, faults, deaths, overlaps, waits };
const beginning = { isNew: options.new, born: options.born, rowsOfPage: options.rows, budget };
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const mostShown = 20;

if (options.mutants !== undefined) await huntAll(options.mutants);
else if (options.trail === undefined) await searchAll();
else {
  const found = await findingsOf(beginning, options.trail, brokenBy(mutant));
  for (const finding of found) console.log(finding);
  process.exitCode = found.length === 0 ? 0 : 1;
}

async function searchAll(): Promise<void> {
  const began = performance.now();
  let toldAt = began;
  const found = await search(
    { beginning, ticks, workers, room: states, endsAfterMs: minutes * minuteMs, mutant },
    (so) => {
      if (performance.now() - toldAt > 10 * secondMs) {
        toldAt = performance.now();
        console.log(`${said(so)}, ${so.left} tasks left`);
      }
      return mutant === undefined || so.findings.length === 0;
    },
  );
  // A trail is only valid with the options of its run.
  const command = ['npm run explore --', ...process.argv.slice(2)].join(' ');
  for (const { trail, findings } of found.findings.slice(0, mostShown))
    console.log(`${command} --trail '${trail}': ${findings.slice(0, 5).join('; ')}`);
  const seconds = Math.round((performance.now() - began) / secondMs);
  const rest = found.left === 0 ? 'all executions within the budgets' : `${found.left} tasks left`;
  console.log(`${said(found)}, in ${seconds} s: ${rest}`);
  process.exitCode = found.findings.length === 0 ? 0 : 1;
}

function said({ executions, states, depth, findings }: Found): string {
  return `${executions} executions, ${states} states, depth ${depth}, ${findings.length} findings`;
}

/** Prints rows of the table of docs/measured/exploration.md. */
async function huntAll(names: readonly string[]): Promise<void> {
  console.log('| mutant | breakage | ticks, budgets | choices | noticed |\n|---|---|---|---|---|');
  for (const name of names) {
    const { breaks = '', ...mutant } = mutants[name] ?? {};
    const hunted = await hunt(breakParts(mutant), (minutes * minuteMs) / names.length);
    console.log(`| \`${name}\` | ${breaks} | ${rowOf(hunted)} |`);
  }
}

function rowOf({ kill, unfinished }: Hunted): string {
  const doubt = unfinished > 0 ? ` (${unfinished} budgets before were not run to their end)` : '';
  if (kill === undefined) return `not noticed${doubt} | | `;
  const { rung, finding } = kill;
  const budgets = kinds.flatMap((kind) =>
    rung.budget[kind] > nothing[kind] ? `${kind} ${rung.budget[kind]}` : [],
  );
  const start = rung.isNew ? ', a new ledger' : '';
  const choices = finding.trail === '' ? 'nothing happens' : `\`${finding.trail}\``;
  return `${[rung.ticks, ...budgets].join(', ')}${start}${doubt} | ${choices} | ${finding.findings[0]}`;
}
