import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

process.env.SEED ??= '1';
const seed = Number(process.env.SEED);
const reportFile = process.env.CI_REPORT;

const slow = 'test/**/*.slow.test.ts';
const soak = 'test/**/*.soak.test.ts';

/** What takes longest comes first, so that no worker is alone with it at the end. */
const slowest = [
  'test/package.slow.test.ts',
  'test/exploration/',
  'test/simulation/',
  'test/scenario/breakages.test.ts',
  'test/local/',
  'test/console/',
  'test/infra/',
  'test/scenario/',
  'test/ops/',
];

/** In an order that differs with the seed, but for the slowest. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placed = files.map((file) => {
      const name = relative(file.project.config.root, file.moduleId).replaceAll('\\', '/');
      const place = slowest.findIndex((start) => name.startsWith(start));
      return {
        file,
        project: file.project.name,
        place: place < 0 ? slowest.length : place,
        chance: createHash('sha256').update(`${seed}/${name}`).digest('hex'),
      };
    });
    placed.sort(
      (a, b) =>
        a.project.localeCompare(b.project) || a.place - b.place || a.chance.localeCompare(b.chance),
    );
    return placed.map(({ file }) => file);
  }
}

/** What tests read, and do not import: `--changed` follows imports only. */
const onlyRead = [
  ...['docs', 'examples', 'test/**/approved'].map((folder) => `**/${folder}/**`),
  ...['**/*.md', '**/test/**/*.txt'],
];

export default defineConfig(({ mode }) => ({
  test: {
    // Files share a worker's modules; what a test leaves behind there, it has to take away again.
    pool: 'forks',
    isolate: false,
    maxWorkers: '100%',
    // Node's own modules, so that its hooks reach all of them, in worker threads, too.
    experimental: { viteModuleRunner: false },
    execArgv: ['--import', new URL('test/support/replaceable-functions.ts', import.meta.url).href],
    projects: [
      {
        extends: true,
        test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: [slow, soak] },
      },
      { extends: true, test: { name: 'slow', include: [slow] } },
      { extends: true, test: { name: 'soak', include: [soak] } },
    ],
    // Against what never ends. Far above what anything takes (seconds), for machines that are busy.
    testTimeout: mode === 'soak' ? 3_600_000 : 120_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    setupFiles: ['test/support/seed.ts'],
    env: {
      // The CDK's validator of templates takes seconds a process: test/infra/synth.slow.test.ts has it run.
      CDK_VALIDATION: 'false',
      ...(mode === 'soak' && { SOAK: '1' }),
    },
    sequence: { shuffle: { files: false, tests: true }, seed, sequencer: SlowestFirst },
    // Of the tests' own processes; a function that runs in a thread of its own is not counted.
    coverage: {
      include: ['{lambda,infra,ops,console,consumer,local}/**/*.{ts,tsx}'],
      reporter: ['text', 'html'],
    },
    forceRerunTriggers: [...configDefaults.forceRerunTriggers, ...onlyRead],
    reporters: reportFile ? ['default', ['json', { outputFile: reportFile }]] : ['default'],
  },
}));
