import fc from 'fast-check';

// One seed for what is generated as for the order of the tests (vitest.config.ts): a red run is the
// fault of what was changed, and not of what chance has found. Other seeds find more: `SEED=2 npm test`.
fc.configureGlobal({ seed: Number(process.env.SEED) });
