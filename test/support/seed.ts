import fc from 'fast-check';
import { afterEach, vi } from 'vitest';
import { isSoak } from './soak.ts';

// One seed for what is generated as for the order of the tests (vitest.config.ts): a red run is the
// fault of what was changed, and not of what chance has found. Other seeds find more: `SEED=2 npm test`.
fc.configureGlobal({ seed: Number(process.env.SEED), ...(isSoak && { numRuns: 5_000 }) });

// Files share a process: a clock that one of them has stopped would stand still for the next. Vitest takes stubs
// away before each test, which is too late for the next file's `beforeAll`.
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
