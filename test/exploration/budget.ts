/** The number of troubles of each kind in the rest of an execution. */
export interface Budget {
  /** Moves of the partner. */
  readonly moves: number;
  /** Calls that fail, or whose answer is lost; indexes that lag. */
  readonly faults: number;
  /** Deaths of ticks. */
  readonly deaths: number;
  /** Switches from one tick to another. */
  readonly overlaps: number;
  /**
   * Jumps of the clock until an audit or a second look is due. Otherwise the next tick begins after
   * a minute.
   */
  readonly waits: number;
}

export const kinds = ['moves', 'faults', 'deaths', 'overlaps', 'waits'] as const;

export const nothing: Budget = { moves: 0, faults: 0, deaths: 0, overlaps: 0, waits: 0 };

export const spent = (budget: Budget, kind: keyof Budget): Budget => ({
  ...budget,
  [kind]: budget[kind] - 1,
});
