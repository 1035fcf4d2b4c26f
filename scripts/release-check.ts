/** `npm run release:check`: judges whether this commit can be released. It changes nothing and asks no registry. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import manifest from '../package.json' with { type: 'json' };
import { refusalsOf } from './release/judges.ts';
import { releaseProblems } from './release/problems.ts';

new Command('npm run release:check --')
  .description(
    'Builds the package, and lists the reasons not to release this commit: of publint, of attw, and of ours. `npm pack --dry-run` names each file.',
  )
  .parse();
const packed = z.object({
  filename: z.string(),
  files: z.array(z.object({ path: z.string(), size: z.int() })),
});
/** npm 11 answers with a list; later versions answer with an object by the package's name. */
const packSchema = z.union([
  z.tuple([packed]).transform(([only]) => only),
  z.record(z.string(), packed).transform((byName, problems) => {
    const [only] = Object.values(byName);
    if (only) return only;
    problems.addIssue('no package');
    return z.NEVER;
  }),
]);
const shell = process.platform === 'win32';

const folder = mkdtempSync(join(tmpdir(), 'release-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
/** The build is done, so packing does not repeat it. */
const packing = execFileSync(
  'npm',
  ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
  { encoding: 'utf8', shell },
);
const { filename, files: tarball } = packSchema.parse(JSON.parse(packing));
const bytes = tarball.reduce((sum, { size }) => sum + size, 0);
console.log(`${manifest.name} ${manifest.version}: ${tarball.length} files, ${bytes} bytes`);
const refusedBy = refusalsOf(
  join(folder, filename),
  (command, ...given) => spawnSync(command, given, { stdio: 'inherit', shell }).status === 0,
);
const status = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' });
const released = (path: string) => path.replace('events/', 'events/released/');
const problems = releaseProblems({
  version: manifest.version,
  changelog: readFileSync('CHANGELOG.md', 'utf8'),
  today: Temporal.Now.plainDateISO(),
  unreleased: globSync('docs/events/*.schema.json').filter(
    (path) =>
      !existsSync(released(path)) ||
      readFileSync(path, 'utf8') !== readFileSync(released(path), 'utf8'),
  ),
  uncommitted: status.split('\n').flatMap((line) => line.slice(3) || []),
  tarball,
  refusedBy,
});
for (const problem of problems) console.error(`- ${problem}`);
if (problems.length > 0) process.exitCode = 1;
else console.log('It can be released.');
