import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node';
import { namedBy, nearest } from './changed/nearest.ts';

const program = new Command('npm run test:changed --')
  .description('Runs the tests that a change can reach, the nearest first, for half a minute.')
  .option('--since <commit>', 'commits since then count, too', 'HEAD')
  .option('--seconds <number>', 'after which no more is begun', Number, 25)
  .parse();
const { since, seconds }: { since: string; seconds: number } = program.opts();

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const beganAt = performance.now();

const changed = [
  ...git('diff', '--name-only', '--relative', since),
  ...git('ls-files', '--others', '--exclude-standard'),
];
const files = [...git('ls-files'), ...changed].filter((file) => existsSync(file));
const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
const tests = nearest(changed, namedBy(texts))
  .map(({ file }) => file)
  .filter((file) => file.endsWith('.test.ts') && existsSync(file));

if (tests.length === 0)
  console.log('No test imports a changed file, directly or by others: npm test');
else await run();

async function run(): Promise<void> {
  const place = ({ moduleId }: TestSpecification) =>
    tests.findIndex((test) => moduleId.endsWith(`/${test}`));
  class NearestFirst extends BaseSequencer {
    override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
      return specifications.toSorted((a, b) => place(a) - place(b));
    }
  }
  const vitest = await createVitest(
    'test',
    { watch: false, project: ['quick'] },
    { test: { sequence: { sequencer: NearestFirst } } },
  );
  const timer = setTimeout(
    () => void vitest.cancelCurrentRun('keyboard-input'),
    seconds * 1000 - (performance.now() - beganAt),
  );
  const { testModules } = await vitest.start(tests);
  clearTimeout(timer);
  const ended = testModules.filter((one) => ['passed', 'failed'].includes(one.state()));
  // For failures outside of tests, Vitest sets the exit code itself.
  if (testModules.some((one) => !one.ok())) process.exitCode = 1;
  const left = tests.length - ended.length;
  if (left > 0)
    console.log(`${left} of ${tests.length} test files that the change can reach: npm test`);
  await vitest.close();
}

function git(...args: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')} has failed: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}
