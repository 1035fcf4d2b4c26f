import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import type { CoverageFile } from 'monocart-coverage-reports';
import { startVitest } from 'vitest/node';
import { coveredFiles } from './coverage/counts.ts';

const program = new Command('npm run coverage --')
  .description('Runs the tests and says which lines and branches they have run, by room.')
  .argument('[files...]', 'test files, as for vitest; without them all tests')
  .option('--json <file>', 'where the figures go', 'coverage/rooms.json')
  .option('--against <file>', 'earlier figures: ends with 1 where a room has fallen')
  .option('--no-run', 'reads the counts of the last run again')
  .parse();
const options: { json: string; against?: string; run: boolean } = program.opts();

type Count = Readonly<Record<'covered' | 'total', number>>;
/** A room is a folder, or a folder in `lambda/`. */
type Rooms = Readonly<Record<string, Readonly<Record<'lines' | 'branches', Count>>>>;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const counts = join(process.cwd(), 'coverage/processes');
if (options.run) {
  rmSync('coverage', { recursive: true, force: true });
  mkdirSync(counts, { recursive: true });
  await import(`./preload/coverage.mjs?${new URLSearchParams({ folder: counts })}`);
  const vitest = await startVitest('test', program.args, { run: true, project: ['quick', 'slow'] });
  await vitest.close();
}
const rooms = roomsOf(await coveredFiles(counts, 'coverage/report'));
writeFileSync(options.json, `${JSON.stringify(rooms)}\n`);
for (const [name, { lines, branches }] of Object.entries(rooms))
  console.log(`${name.padEnd(20)}lines ${cell(lines)}  branches ${cell(branches)}`);
console.log('Line by line: coverage/report/index.html. Killed processes are not counted.');
if (options.against !== undefined) {
  const falls = fallsSince(JSON.parse(readFileSync(options.against, 'utf8')));
  for (const fall of falls) console.log(`fell: ${fall}`);
  if (falls.length > 0) process.exitCode = 1;
}

function roomsOf(files: readonly CoverageFile[]): Rooms {
  const names = files.flatMap(({ sourcePath }) => [
    ...(/^\w+/.exec(sourcePath) ?? []),
    ...(/^lambda\/\w+(?=\/)/.exec(sourcePath) ?? []),
  ]);
  return Object.fromEntries(
    [...new Set(names)].sort().map((name) => {
      const within = files.filter(({ sourcePath }) => sourcePath.startsWith(`${name}/`));
      const sum = (kind: 'lines' | 'branches', part: 'covered' | 'total') =>
        within.reduce((all, { summary }) => all + (summary[kind]?.[part] ?? 0), 0);
      const count = (kind: 'lines' | 'branches'): Count => ({
        covered: sum(kind, 'covered'),
        total: sum(kind, 'total'),
      });
      return [name, { lines: count('lines'), branches: count('branches') }];
    }),
  );
}

function percent({ covered, total }: Count): number {
  return total === 0 ? 100 : (100 * covered) / total;
}

function cell(one: Count): string {
  return `${percent(one).toFixed(1).padStart(5)} % of ${String(one.total).padEnd(5)}`;
}

/** Less than a twentieth of a percent is rounding. */
function fallsSince(earlier: Rooms): string[] {
  return Object.entries(earlier).flatMap(([name, before]) =>
    (['lines', 'branches'] as const).flatMap((kind) => {
      const [was, is] = [before[kind], rooms[name]?.[kind] ?? before[kind]];
      const hasFallen = percent(was) - percent(is) > 0.05;
      return hasFallen ? [`${name}: ${kind} ${cell(was)} → ${cell(is)}`] : [];
    }),
  );
}
