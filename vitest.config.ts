import { defineConfig } from 'vitest/config';

const reportFile = process.env.CI_REPORT;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Scenario tests start servers and synthesize the stack once; everything else is far below this.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    sequence: { shuffle: true },
    reporters: reportFile ? ['default', ['json', { outputFile: reportFile }]] : ['default'],
  },
});
