import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { startVitest } from 'vitest/node';
import { bundlesNow, unbundled } from './coverage/bundles.ts';
import { type CoverageReport, fallsBetween, reportOf, table } from './coverage/report.ts';
import { lengthOf, merged, type Script } from './coverage/script.ts';
import { asNodeRunsIt, type FileCoverage, Source } from './coverage/source.ts';

/*
 * Vitest measures its own processes. Every other process and worker thread writes V8's counts as it
 * ends (preload/coverage.mjs). All run a source as Node does, so that a statement has one place
 * in all of them.
 */

const program = new Command('npm run coverage --')
  .description('Runs the tests and says which lines and branches they have run, by room.')
  .argument('[files...]', 'test files, as for vitest; without them all tests')
  .option('--json <file>', 'where the figures go', 'coverage/rooms.json')
  .option('--against <file>', 'earlier figures: ends with 1 where a room has fallen')
  .option('--no-run', 'reads the files of the last run again')
  .parse();
const options: { json: string; against?: string; run: boolean } = program.opts();

const root = fileURLToPath(new URL('..', import.meta.url));
const processes = join(root, 'coverage/processes');
const measured = join(root, 'coverage/vitest');
const roomFolders = ['lambda', 'consumer', 'ops', 'infra', 'local'];

if (options.run) await run();
const sources = new Map<string, Source>();
for (const path of globSync(`{${roomFolders}}/**/*.{ts,mjs}`, { cwd: root }).sort())
  sources.set(path, await Source.of(join(root, path), readFileSync(join(root, path), 'utf8')));
const ofVitest = await addVitest();
const ofProcesses = await addProcesses();

const report = reportOf(
  Object.fromEntries(
    [...sources].map(([path, { lines, branches }]) => {
      const missed = [...lines].filter(([, isRun]) => !isRun).map(([line]) => line);
      const covered = lines.size - missed.length;
      return [path, { lines: { covered, total: lines.size }, branches, missed }];
    }),
  ),
);
writeFileSync(options.json, `${JSON.stringify(report)}\n`);
console.log(`\n${table(report)}\n\n${ofProcesses.told}`);
const strays = ofVitest.strays + ofProcesses.strays;
if (strays > 0)
  console.log(
    `${strays} places are unknown: of sources that have changed since the run, or of another conversion.`,
  );

if (options.against !== undefined) {
  if (!existsSync(options.against)) program.error(`error: ${options.against} is not found.`);
  const earlier: CoverageReport = JSON.parse(readFileSync(options.against, 'utf8'));
  const falls = fallsBetween(earlier, report);
  for (const fall of falls) console.log(`fell: ${fall}`);
  if (falls.length > 0) process.exitCode = 1;
}

async function run(): Promise<void> {
  rmSync(join(root, 'coverage'), { recursive: true, force: true });
  mkdirSync(processes, { recursive: true });
  await import(`./preload/coverage.mjs?${new URLSearchParams({ folder: processes })}`);
  const vitest = await startVitest(
    'test',
    program.args,
    {
      run: true,
      project: ['quick', 'slow'],
      coverage: {
        enabled: true,
        provider: 'v8',
        reporter: ['json'],
        reportsDirectory: measured,
        reportOnFailure: true,
        include: roomFolders.map((room) => `${room}/**/*.{ts,mjs}`),
      },
    },
    {
      // In place of Vite's own transformation, which moves the code.
      oxc: false,
      plugins: [
        {
          name: 'as-node-runs-it',
          enforce: 'pre',
          transform: (code, id) => ({ code: asNodeRunsIt(id, code), map: null }),
        },
      ],
    },
  );
  await vitest.close();
}

async function addVitest() {
  const files: Record<string, FileCoverage> = JSON.parse(
    readFileSync(join(measured, 'coverage-final.json'), 'utf8'),
  );
  let strays = 0;
  for (const [path, file] of Object.entries(files))
    strays += sources.get(relative(root, path))?.add(file) ?? 0;
  return { strays };
}

/** Adds the counts of other processes, and prints how many are counted and how many are not. */
async function addProcesses() {
  // Bundles are known by their length: V8 tells nothing else of a script that is gone.
  const bundles = new Map((await bundlesNow()).map((made) => [made.code.length, made]));
  const ofSources = new Map<string, Script>();
  const ofBundles = new Map<number, Script>();
  let otherTexts = 0;
  let otherBundles = 0;
  let cutOff = 0;
  const addToSource = (path: string, { code }: Source, script: Script) => {
    // Node adds a line with the URL of the source.
    const added = path.endsWith('.ts') ? `\n\n//# sourceURL=${script.url}`.length : 0;
    if (lengthOf(script) !== code.length + added) otherTexts += 1;
    else ofSources.set(path, merged(ofSources.get(path), script));
  };
  const addToBundle = (script: Script) => {
    const length = lengthOf(script);
    if (bundles.has(length)) ofBundles.set(length, merged(ofBundles.get(length), script));
    else otherBundles += 1;
  };
  const add = (script: Script) => {
    const path = relative(root, fileURLToPath(script.url));
    const source = sources.get(path);
    if (source) addToSource(path, source, script);
    else if (/\/asset\.[^/]+\/index\.mjs$/.test(path)) addToBundle(script);
  };
  const names = readdirSync(processes).filter((name) => name.endsWith('.json'));
  for (const name of names) {
    const scripts = scriptsOf(join(processes, name));
    if (!scripts) cutOff += 1;
    for (const script of scripts ?? []) if (script.url.startsWith('file:')) add(script);
  }
  const ofParts = [...ofBundles].flatMap(([length, script]) => {
    const made = bundles.get(length);
    return made ? [...unbundled(made, script, (name) => sources.get(name)?.code)] : [];
  });
  let strays = 0;
  const counted = [...ofSources].map(([path, { functions }]) => [path, functions] as const);
  for (const [path, functions] of [...counted, ...ofParts])
    strays += (await sources.get(path)?.addCounts(functions)) ?? 0;
  const told = [
    `Counted: Vitest's processes, and ${names.length - cutOff} others and worker threads.`,
    `Not counted: ${otherTexts} sources whose text was another when they ran, ${otherBundles} bundles of other`,
    `sources, the packed package that tests install, and killed processes (${cutOff} while writing).`,
  ].join('\n');
  return { strays, told };
}

/** Undefined if the process was killed while it wrote. */
function scriptsOf(file: string): Script[] | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).result;
  } catch {
    return undefined;
  }
}
