import { hasCollapsed } from '../detection/pulse.ts';
import { NotifierError } from '../errors.ts';
import type { CommandOf } from './command.ts';
import type { ResultOf } from './contract.ts';
import { underLease } from './lease.ts';
import { makeDue } from './make-due.ts';
import type { Call, OperationParts, Outcome } from './parts.ts';

/** The partner shows something else than what was looked at. */
class TotalChangedError extends NotifierError {
  readonly code = 'total-changed';
  readonly retryHelps = false;
  readonly whatToDo = 'Look at the total again, and accept it as it is now, if it is right.';

  constructor(total: number, shown: number) {
    super(`The partner shows ${shown} assessments, not about ${total}.`);
  }
}

/** A scope that is empty cannot be told from a host that is broken. */
class NothingShownError extends NotifierError {
  readonly code = 'nothing-shown';
  readonly retryHelps = false;
  readonly whatToDo =
    'Nothing is called withdrawn while the partner shows nothing at all. If that is how it stays, pause the integration.';

  constructor() {
    super('The partner shows no assessments.');
  }
}

const tolerance = 0.1;

/**
 * The total has fallen by more than half, and ops say that it is right: what is gone is looked for
 * and withdrawn from now on, and held as a flood if it is one.
 *
 * @throws TotalChangedError, NothingShownError
 */
export function acceptTotal(
  parts: OperationParts,
  { total }: CommandOf<'accept-total'>,
  call: Call,
): Promise<Outcome<ResultOf<'accept-total'>>> {
  const { partner, ledger, opsLedger } = parts;
  return underLease(parts, call, async (state) => {
    const shown = await partner.count({}, call.limit.deadline);
    const before = state.collapsedFrom ?? state.expected + state.unexplained;
    if (!hasCollapsed(shown, before)) return { result: { changed: false, total: shown, before } };
    if (Math.abs(shown - total) > total * tolerance) throw new TotalChangedError(total, shown);
    if (shown === 0) throw new NothingShownError();
    await opsLedger.acceptTotal(shown);
    // From what was read meanwhile, nothing was inferred about what is gone.
    const since = state.conditions.get('collapsed')?.since ?? 0;
    const calendar = await ledger.calendar(state.years);
    await makeDue(parts, calendar, ({ readAt }) => readAt >= since);
    return { result: { changed: true, total: shown, before } };
  });
}
