/** How much of what can go wrong does, in what is left of an execution. */
export interface Budget {
  /** Of the partner. */
  readonly moves: number;
  /** Calls that fail, or whose answer is lost; indexes that lag. */
  readonly faults: number;
  /** Of ticks. */
  readonly deaths: number;
  /** How often one tick is put aside for another. */
  readonly overlaps: number;
  /** Of the clock: until an audit or a second look is due. Otherwise the next tick begins after a minute. */
  readonly waits: number;
}

export const kinds = ['moves', 'faults', 'deaths', 'overlaps', 'waits'] as const;

export const nothing: Budget = { moves: 0, faults: 0, deaths: 0, overlaps: 0, waits: 0 };

export const spent = (budget: Budget, kind: keyof Budget): Budget => ({
  ...budget,
  [kind]: budget[kind] - 1,
});
