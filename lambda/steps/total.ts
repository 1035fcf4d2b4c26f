import { hasCollapsed } from '../detection/pulse.ts';
import type { State, StateChanges } from '../ports.ts';

/** What the partner's total is measured against. */
export interface Total {
  /** More than half of everything has gone at once: nothing is called gone meanwhile. */
  readonly isCollapsed: boolean;
  /** What was expected before it collapsed, or is expected now. */
  readonly before: number;
  readonly changes: Pick<StateChanges, 'collapsedFrom' | 'acceptedTotal'>;
}

/**
 * Judges the partner's total. One that has collapsed stays so until it is back above half of what it
 * was, or ops have called it right: then that stands in for what is expected, until what is gone is
 * committed.
 */
export function judgeTotal(count: number, state: State): Total {
  const expected = state.expected + state.unexplained;
  const { collapsedFrom, acceptedTotal = 0 } = state;
  const isAccepted = acceptedTotal > 0 && hasCollapsed(acceptedTotal, expected);
  const before = collapsedFrom ?? (isAccepted ? acceptedTotal : expected);
  const isCollapsed = hasCollapsed(count, before);
  return {
    isCollapsed,
    before,
    changes: {
      ...(acceptedTotal > 0 && collapsedFrom === undefined && !isAccepted && { acceptedTotal: 0 }),
      ...(isCollapsed !== (collapsedFrom !== undefined) && {
        collapsedFrom: isCollapsed ? before : 0,
      }),
    },
  };
}
