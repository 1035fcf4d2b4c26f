import { lostOf, mayGo, nothingMissing } from '../detection/missing.ts';
import { errorOf } from '../errors.ts';
import { underLease } from './lease.ts';
import type { Carrier } from './parts.ts';
import { ifPaused } from './pause.ts';

/** The partner shows something else than what was looked at. */
export class TotalChangedError extends errorOf('total-changed', 'partner') {
  readonly whatToDo = 'Look at the total again, and accept it as it is now, if it is right.';

  constructor(total: number, shown: number) {
    super(`The partner shows ${shown} assessments, not about ${total}.`);
  }
}

const tolerance = 0.1;

/**
 * Too many are missing at the partner to be withdrawn, and ops say that its total is right: as many as
 * are missing now may go, after two looks like any other. More than these wait for ops again.
 *
 * @throws TotalChangedError
 */
export const acceptTotal: Carrier<'accept-total'> = (parts, { total }, call) => {
  const { partner, ledger, clock } = parts;
  return underLease(parts, call, async (state) => {
    const shown = await partner.count({}, call.limit.deadline);
    const { missing = nothingMissing, expected, unexplained } = state;
    const known = expected + missing.total;
    const toBeFound = Math.max(0, expected + unexplained - shown);
    const totals = { known, missing: missing.total + toBeFound };
    const before = known + unexplained;
    const told = { total: shown, before, ...ifPaused(state) };
    const now = clock.now().epochMilliseconds;
    if (mayGo(missing, totals, now)) return { result: { changed: false, ...told } };
    if (Math.abs(shown - total) > total * tolerance) throw new TotalChangedError(total, shown);
    const accepted = lostOf(missing, totals);
    await ledger.saveState({ missing: { ...missing, accepted, lookAt: now } });
    return { result: { changed: true, ...told } };
  });
};
