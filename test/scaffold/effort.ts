import type { Effort } from '../../lambda/tick/parts.ts';

/** For those whom it does not concern: nothing was asked of the partner, in no time. */
export const noEffort = (): (() => Effort) => () => ({ requests: 0, durationMs: 0 });
