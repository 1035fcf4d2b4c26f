import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { Arena } from '../bench/arena.ts';
import { settle } from '../bench/cases.ts';
import { awsReady, startChild } from '../bench/child.ts';
import { today } from '../bench/settings.ts';
import { type Calls, callsDuring } from './measure/calls.ts';
import { importsOf, linesOfCode, mutableFields } from './measure/code.ts';

const program = new Command('npm run measure --')
  .description(
    'How much code a tick runs, how many fields it can change, and how long the sources are.',
  )
  .option('--names', 'also the functions and the fields themselves')
  .parse();
const { names = false }: { names?: boolean } = program.opts();

const root = fileURLToPath(new URL('..', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** The goals of the design. */
const goals = {
  quiet: { functions: 50, files: 18 },
  news: { functions: 140, files: 34 },
  fields: 10,
  lambda: 10_000,
  tick: 1_700,
};

const { quiet, news } = await ticksOf();
tell('quiet tick', quiet, goals.quiet);
tell('tick with one new record', news, goals.news);

const fields = reachable('lambda/tick/tick.ts').flatMap((file) =>
  mutableFields(textOf(file)).map((name) => `${file} ${name}`),
);
console.log(`mutable fields from the tick on  ${fields.length} (${goals.fields})`);
if (names) console.log(`  ${fields.join('\n  ')}`);

const rooms = Map.groupBy(globSync('lambda/**/*.ts', { cwd: root }), (file) => {
  const [, room = '', inner] = file.split('/');
  return inner === undefined ? 'lambda' : `lambda/${room}`;
});
let all = 0;
for (const [room, files] of [...rooms].sort()) {
  const lines = files.reduce((sum, file) => sum + linesOfCode(textOf(file)), 0);
  all += lines;
  console.log(`${room}  ${lines}${room === 'lambda/tick' ? ` (${goals.tick})` : ''}`);
}
console.log(`lines of code in lambda  ${all} (${goals.lambda})`);

function tell(what: string, calls: Calls, goal: { functions: number; files: number }): void {
  const { functions, files } = calls;
  console.log(
    `${what}  ${functions.length} functions (${goal.functions}), ${files.length} files (${goal.files})`,
  );
  if (names) console.log(`  ${functions.join('\n  ')}`);
}

/** The real tick over a sandbox and an embedded DynamoDB, each in a process of its own. */
async function ticksOf(): Promise<{ quiet: Calls; news: Calls }> {
  const aws = await startChild('aws-process.ts', {}, awsReady);
  const arena = await Arena.open('measure', { records: 300, until: today }, aws.ready);
  try {
    await settle(arena);
    await arena.run('ours');
    const quiet = await callsDuring('lambda', () => arena.run('ours'));
    await arena.control('POST', '/assessments', { certified_on: today });
    const news = await callsDuring('lambda', () => arena.run('ours'));
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
