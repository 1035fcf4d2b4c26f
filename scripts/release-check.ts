/** `npm run release:check`: judges whether this commit can be released. It changes nothing and asks no registry. */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { exportProblems, factsOf } from './release/facts.ts';
import { releaseProblems } from './release/problems.ts';

new Command('npm run release:check --')
  .description(
    'Builds the package, and lists the reasons not to release this commit: of publint, of attw, and of ours. `npm pack --dry-run` names each file.',
  )
  .parse();
const root = fileURLToPath(new URL('..', import.meta.url));
const release = factsOf(root);
const bytes = release.tarball.reduce((sum, { size }) => sum + size, 0);
console.log(`${manifest.name} ${release.version}: ${release.tarball.length} files, ${bytes} bytes`);
const problems = [...releaseProblems(release), ...exportProblems(root)];
for (const problem of problems) console.error(`- ${problem}`);
if (problems.length > 0) process.exitCode = 1;
else console.log('It can be released.');
