/** `npm run release:check`: judges whether this commit can be released. It changes nothing and asks no registry. */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { factsOf } from './release/facts.ts';
import { reasonsNotToPublish, releaseProblems } from './release/problems.ts';

const program = new Command('npm run release:check --')
  .description('Builds the package, and lists the reasons not to release this commit.')
  .option('--publish', 'also the reasons not to publish it; npm runs this before it publishes')
  .option('--list', 'each file of the tarball')
  .parse();
const { publish = false, list = false }: { publish?: boolean; list?: boolean } = program.opts();

const release = factsOf(fileURLToPath(new URL('..', import.meta.url)));
const { tarball, manifest } = release;

const folders = Map.groupBy(tarball, ({ path }) => path.split('/').slice(0, 2).join('/'));
const sum = (files: readonly { size: number }[]) => files.reduce((all, { size }) => all + size, 0);
console.log(`certification-notifier ${manifest.version}: ${tarball.length} files`);
if (list) for (const { path, size } of tarball) console.log(`  ${path}  ${size}`);
else
  for (const [folder, files] of folders)
    console.log(`  ${folder}  ${files.length}, ${sum(files)} bytes`);

const reasons = reasonsNotToPublish(release);
const problems = [...releaseProblems(release), ...(publish ? reasons : [])];
for (const problem of problems) console.error(`- ${problem}`);
if (problems.length > 0) process.exitCode = 1;
else {
  console.log('It can be released.');
  for (const reason of reasons) console.log(`It cannot be published: ${reason}.`);
}
