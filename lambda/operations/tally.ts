import type { Change } from '../detection/compare.ts';

/** How many events, or changes, of each kind. */
export type Tally = Record<Change['kind'], number>;

export const emptyTally = (): Tally => ({ created: 0, updated: 0, withdrawn: 0, restored: 0 });
