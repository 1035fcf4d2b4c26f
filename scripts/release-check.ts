/** `npm run release:check`: judges whether this commit can be released. It changes nothing and asks no registry. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import manifest from '../package.json' with { type: 'json' };
import { releaseProblems } from './release/problems.ts';

new Command('npm run release:check --')
  .description(
    'Builds the package, and lists the reasons not to release this commit: of publint, of attw, and of ours. `npm pack --dry-run` names each file.',
  )
  .parse();
const packed = z.object({ files: z.array(z.object({ path: z.string(), size: z.int() })) });
/** npm 11 answers with a list; later versions answer with an object by the package's name. */
const packSchema = z.union([
  z.array(packed),
  z.record(z.string(), packed).transform((byName) => Object.values(byName)),
]);

/** The build is done, so packing does not repeat it. */
const packing = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
});
const [packageOf] = packSchema.parse(JSON.parse(packing));
const tarball = packageOf?.files ?? [];
const bytes = tarball.reduce((sum, { size }) => sum + size, 0);
console.log(`${manifest.name} ${manifest.version}: ${tarball.length} files, ${bytes} bytes`);
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
  tarball,
});
for (const problem of problems) console.error(`- ${problem}`);
if (problems.length > 0) process.exitCode = 1;
else console.log('It can be released.');
