import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

process.env.SEED ??= '1';
const seed = Number(process.env.SEED);
const reportFile = process.env.CI_REPORT;

/** Each in a process of its own: it measures its process, or changes what all modules share. */
const alone = [
  'test/lambda/partner/fuzz.test.ts',
  'test/lambda/partner/proven/mutants.test.ts',
  'test/ops/stopping.slow.test.ts',
];

/** What takes longest comes first, so that no worker is alone with it at the end. */
const slowest = [
  'test/simulation/',
  'test/scenario/breakages.test.ts',
  'test/local/start.test.ts',
  'test/exploration/',
  'test/scenario/delivery.test.ts',
  'test/scenario/operations.test.ts',
  'test/scenario/permissions.test.ts',
  'test/console/browser.test.ts',
  'test/infra/synth.test.ts',
  'test/package.test.ts',
  'test/ops/',
  'test/scenario/',
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

export default defineConfig(({ mode }) => ({
  test: {
    // Files share a worker's modules; what a test leaves behind there, it has to take away again.
    pool: 'forks',
    maxWorkers: '100%',
    projects: [
      { extends: true, test: { name: 'alone', include: alone } },
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: alone, isolate: false },
      },
    ],
    // Against what never ends. Far above what anything takes (seconds), for machines that are busy.
    testTimeout: mode === 'soak' ? 3_600_000 : 120_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    setupFiles: ['test/support/seed.ts'],
    env: {
      // The CDK's validator of templates takes seconds a process: test/infra/synth.test.ts has it run.
      CDK_VALIDATION: 'false',
      ...(mode === 'soak' && { SOAK: '1' }),
    },
    sequence: { shuffle: { files: false, tests: true }, seed, sequencer: SlowestFirst },
    reporters: reportFile ? ['default', ['json', { outputFile: reportFile }]] : ['default'],
  },
}));
