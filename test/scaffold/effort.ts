import type { Effort } from '../../lambda/tick/parts.ts';

/** The effort of a read that sent no request and took no time, for tests that do not care. */
export const noEffort = (): (() => Effort) => () => ({ requests: 0, durationMs: 0 });
