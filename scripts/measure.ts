import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { openArena } from '../bench/arena.ts';
import { settle } from '../bench/cases.ts';
import { awsReady, startChild } from '../bench/child.ts';
import { today } from '../bench/settings.ts';
import budgets from './measure/budgets.json' with { type: 'json' };
import { type Calls, callsDuring } from './measure/calls.ts';
import { importsOf, linesOfCode, mutablePlaces } from './measure/code.ts';

const program = new Command('npm run measure --')
  .description(
    'How much code a tick runs, how many places it can change, and how long the sources are. Ends with 1 beyond a budget of scripts/measure/budgets.json.',
  )
  .option('--names', 'also the functions and the places themselves')
  .parse();
const { names = false }: { names?: boolean } = program.opts();

const root = fileURLToPath(new URL('..', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** Git does not have it. */
const generated = 'infra/config/input.ts';
/** A name that says yes or no. Where several of them describe one outcome, a union is better. */
const isFlag = /(?<![.\w])is[A-Z]\w*/g;

const { quiet, news } = await ticksOf();
const places = reachable('lambda/tick/tick.ts').flatMap((file) =>
  mutablePlaces(textOf(file)).map((name) => `${file} ${name}`),
);
tell('functions of a quiet tick', quiet.functions.length, budgets.quiet.functions, quiet.functions);
tell('files of a quiet tick', quiet.files.length, budgets.quiet.files);
tell('functions for one new record', news.functions.length, budgets.news.functions, news.functions);
tell('files for one new record', news.files.length, budgets.news.files);
tell('mutable places from the tick on', places.length, budgets.places, places);
const flags = new Set(
  globSync('lambda/**/*.ts', { cwd: root }).flatMap((file) => textOf(file).match(isFlag) ?? []),
);
tell('names of flags', flags.size, budgets.flags, [...flags].sort());
for (const [room, budget] of Object.entries(budgets.lines)) {
  const files = globSync(`${room}/**/*.{ts,mjs,css}`, { cwd: root, exclude: [generated] });
  const lines = files.reduce((sum, file) => sum + linesOfCode(textOf(file)), 0);
  tell(room, lines, budget);
}

function tell(what: string, size: number, budget: number, which: readonly string[] = []): void {
  const isBeyond = size > budget;
  if (isBeyond) process.exitCode = 1;
  console.log(`${what}  ${size} (${budget})${isBeyond ? ' beyond its budget' : ''}`);
  if (names && which.length > 0) console.log(`  ${which.join('\n  ')}`);
}

/** The real tick over a sandbox and an embedded DynamoDB, each in a process of its own. */
async function ticksOf(): Promise<{ quiet: Calls; news: Calls }> {
  const aws = await startChild('aws-process.ts', {}, awsReady);
  const arena = await openArena('measure', { records: 300, until: today }, aws.ready);
  try {
    await settle(arena);
    await arena.ticker.tick();
    const quiet = await callsDuring('lambda', arena.ticker.tick);
    await arena.control('POST', '/assessments', { certified_on: today });
    const news = await callsDuring('lambda', arena.ticker.tick);
    return { quiet, news };
  } finally {
    await arena.close();
    await aws.stop();
  }
}

/** The source, and all files of the same folder that it imports at run time. */
function reachable(entry: string): string[] {
  const found = new Set([entry]);
  for (const file of found)
    for (const path of importsOf(textOf(file))) found.add(join(dirname(file), path));
  return [...found].sort();
}
