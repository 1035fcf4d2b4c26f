import * as z from 'zod/mini';
import { lostOf, mayGo, nothingMissing } from '../decisions/missing.ts';
import { deadlineOf } from '../tick/time.ts';
import { define } from './definition.ts';
import { BusyError, TotalChangedError } from './errors.ts';
import { underLease } from './lease.ts';
import { ifPaused } from './pause.ts';
import { by, count, paused, reasonIfAny } from './shapes.ts';
import { setting } from './words.ts';

/** The share by which the partner's total may differ from the one that ops have looked at. */
const tolerance = 0.1;

/**
 * Too many certifications are missing at the partner to be withdrawn, and ops say that its total is
 * right. As many as are missing now may go, after two looks like any other. More than these wait
 * for ops again.
 *
 * @throws TotalChangedError
 */
export const acceptTotal = define({
  does: 'Many certifications are missing at the partner, and its total is right.',
  command: z.strictObject({
    command: z.literal('accept-total'),
    /**
     * The total that ops have looked at: it is accepted only if the partner still shows as many,
     * within a tenth.
     */
    total: setting(count, "the partner's total that you have looked at", { isArgument: true }),
    reason: reasonIfAny,
    by,
  }),
  result: z.object({
    /** `false`: no more is missing than may be withdrawn; there is nothing to accept. */
    changed: z.boolean(),
    /** The partner's total. */
    total: count,
    /** The expected total. */
    before: count,
    paused,
  }),
  carry(parts, { total }, call) {
    const { partner, ledger, clock } = parts;
    return underLease(parts, call, async (state, lease) => {
      const shown = await partner.count({}, deadlineOf(call.time));
      const { missing = nothingMissing, expected, unexplained } = state;
      const known = expected + missing.total;
      const toBeFound = Math.max(0, expected + unexplained - shown);
      const totals = { known, missing: missing.total + toBeFound };
      const told = { total: shown, before: known + unexplained, ...ifPaused(state) };
      const now = clock.now().epochMilliseconds;
      if (mayGo(missing, totals, now)) return { result: { changed: false, ...told } };
      if (Math.abs(shown - total) > total * tolerance) throw new TotalChangedError(total, shown);
      const accepted = lostOf(missing, totals);
      const after = { missing: { ...missing, accepted, lookAt: now } };
      if (!(await ledger.saveState(after, lease))) throw new BusyError();
      return { result: { changed: true, ...told } };
    });
  },
});
