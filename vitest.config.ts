import { defineConfig } from 'vitest/config';

process.env.SEED ??= '1';
const reportFile = process.env.CI_REPORT;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Against what never ends. Far above what anything takes (seconds), for machines that are busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    setupFiles: ['test/support/seed.ts'],
    sequence: { shuffle: true, seed: Number(process.env.SEED) },
    reporters: reportFile ? ['default', ['json', { outputFile: reportFile }]] : ['default'],
  },
});
