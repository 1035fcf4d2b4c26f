import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { recentWindow } from '../decisions/days.ts';
import type { StateChanges } from '../decisions/state.ts';
import { define } from './definition.ts';
import { BusyError } from './errors.ts';
import { underLease } from './lease.ts';
import { ifPaused } from './pause.ts';
import { by, paused, reasonIfAny } from './shapes.ts';

/**
 * The next ticks read everything anew. They compare it with the ledger, so nothing is announced
 * twice. Certifications that the ledger lacks are news, as always after the first baseline, or a
 * flood that is held. A baseline that is running goes on.
 */
export const restartBaseline = define({
  does: 'Reads everything anew, and announces certifications that the ledger lacks.',
  command: z.strictObject({
    command: z.literal('restart-baseline'),
    reason: reasonIfAny,
    by,
  }),
  result: z.object({
    /** `false`: a baseline is running, and goes on; nothing has changed. */
    changed: z.boolean(),
    paused,
  }),
  carry(parts, _command, call) {
    const { clock, ledger, settings } = parts;
    return underLease(parts, call, async (state, lease) => {
      const changed = state.baseline.status === 'completed';
      const { today } = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
      if (changed && !(await ledger.saveState(readAnew(today), lease))) throw new BusyError();
      return { result: { changed, ...ifPaused(state) } };
    });
  },
});

/**
 * The changes for a restart: the pulse is looked at anew, a day that was being read is read again,
 * and nothing counts as missing.
 */
export const readAnew = (startDay: Temporal.PlainDate): StateChanges => ({
  baseline: { status: 'running', startDay, isAnew: true },
  pulseDigest: undefined,
  missing: undefined,
  cursor: undefined,
});
