import type { AuditPeriods } from './audit.ts';

/** A total below half of what was expected that ops have called right; 0 if need be. */
export interface AcceptedTotal {
  readonly total: number;
  /** What was expected before. */
  readonly before: number;
}

/** What is known when the partner tells its total; the names are those of `State`. */
export interface BeforeTotal {
  readonly expected: number;
  readonly unexplained: number;
  readonly collapsedFrom?: number;
  readonly accepted?: AcceptedTotal;
  readonly recentAuditAt: number;
  readonly historyAuditAt: number;
}

/** What the partner's total is measured against. */
export interface Total {
  /** More than half of everything has gone at once: nothing is called gone meanwhile. */
  readonly isCollapsed: boolean;
  /** What was expected before it collapsed, or is expected now. */
  readonly before: number;
  /** Of the state. */
  readonly changes: {
    /** 0: no longer. */
    readonly collapsedFrom?: number;
    /** `null`: no longer. */
    readonly accepted?: null;
  };
}

/**
 * Judges the partner's total. One that has collapsed stays so until it is back above half of what it
 * was, or ops have called it right: then that stands in for what is expected, until what is gone is
 * committed, or most of what had gone is back. Reads during a collapse have found it gone and not
 * committed it, so what is expected has fallen, too, and rises again while they are repeated: as long as
 * days are to be read whenever they were read last, nothing is said by it.
 */
export function judgeTotal(count: number, state: BeforeTotal, periods: AuditPeriods): Total {
  const expected = state.expected + state.unexplained;
  const { collapsedFrom, accepted } = state;
  const isBack =
    accepted !== undefined && count - accepted.total > (accepted.before - accepted.total) / 2;
  const isRight = accepted !== undefined && !isBack;
  const isAccepted = isRight && hasCollapsed(accepted.total, expected);
  const isRepeating =
    state.recentAuditAt <= periods.recentMs || state.historyAuditAt <= periods.historyMs;
  const before = collapsedFrom ?? (isAccepted ? accepted.total : expected);
  const isCollapsed = hasCollapsed(count, before);
  return {
    isCollapsed,
    before,
    changes: {
      ...(accepted !== undefined &&
        collapsedFrom === undefined &&
        !isAccepted &&
        (isBack || !isRepeating) && { accepted: null }),
      ...(isCollapsed !== (collapsedFrom !== undefined) && {
        collapsedFrom: isCollapsed ? before : 0,
      }),
    },
  };
}

/**
 * Whether more than half of everything has gone at once. A scope or a host that is broken looks like
 * this, so nothing is called gone until the total is back above half of what it was.
 *
 * @param before what was expected before it collapsed, or is expected now
 */
function hasCollapsed(count: number, before: number): boolean {
  return count < before / 2;
}
