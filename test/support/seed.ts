import fc from 'fast-check';
import { afterEach, vi } from 'vitest';

/** `npm run soak` has hours where `npm test` has minutes. */
const isSoak = process.env.SOAK === '1';

// Generated values and the order of the tests have one seed (vitest.config.ts). So a failing run is
// due to a change, and not to chance. Other seeds find more: `SEED=2 npm test`.
fc.configureGlobal({ seed: Number(process.env.SEED), ...(isSoak && { numRuns: 5_000 }) });

// Files share a process: a clock stopped by one file would stand still for the next. Vitest removes
// stubs before each test, which is too late for the next file's `beforeAll`.
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
