import { judgeTotal } from '../detection/total.ts';
import { NotifierError } from '../errors.ts';
import type { CommandOf } from './command.ts';
import type { ResultOf } from './contract.ts';
import { underLease } from './lease.ts';
import { makeDue } from './make-due.ts';
import type { Call, OperationParts, Outcome } from './parts.ts';
import { ifPaused } from './pause.ts';

/** The partner shows something else than what was looked at. */
class TotalChangedError extends NotifierError {
  readonly code = 'total-changed';
  readonly retryHelps = false;
  readonly whatToDo = 'Look at the total again, and accept it as it is now, if it is right.';

  constructor(total: number, shown: number) {
    super(`The partner shows ${shown} assessments, not about ${total}.`);
  }
}

const tolerance = 0.1;

/**
 * The total has fallen by more than half, and ops say that it is right: what is gone is looked for
 * and withdrawn from now on, and held as a flood if it is one. A total of nothing cannot be told from a
 * host that is broken: no record is left by which ticks could try the single-record endpoint.
 *
 * @throws TotalChangedError
 */
export function acceptTotal(
  parts: OperationParts,
  { total }: CommandOf<'accept-total'>,
  call: Call,
): Promise<Outcome<ResultOf<'accept-total'>>> {
  const { partner, ledger, opsLedger } = parts;
  return underLease(parts, call, async (state) => {
    const shown = await partner.count({}, call.limit.deadline);
    // As ticks do, to whom a total that was accepted before is right.
    const { isCollapsed, before } = judgeTotal(shown, state, parts.settings.audit);
    const told = { total: shown, before, ...ifPaused(state) };
    if (!isCollapsed) return { result: { changed: false, ...told } };
    if (Math.abs(shown - total) > total * tolerance) throw new TotalChangedError(total, shown);
    await opsLedger.acceptTotal({ total: shown, before });
    // Reads during a collapse infer nothing about what is gone, nor do those of before its end was seen:
    // which they were is not known for sure, so all days are read again, as audits do in a day anyway.
    if (state.conditions.has('collapsed'))
      await makeDue(parts, await ledger.calendar(state.years), () => true);
    return { result: { changed: true, ...told } };
  });
}
