import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { recentWindow } from '../../detection/days.ts';
import type { StateChanges } from '../../ports/state.ts';
import { define } from '../definition.ts';
import { underLease } from '../lease.ts';
import { by, paused, reason } from '../shapes.ts';
import { ifPaused } from './pause.ts';

/**
 * The next ticks read everything anew. What the ledger knows is compared, so that nothing is announced
 * twice; what it does not know yet is news, as ever after the first baseline, or a flood that is held.
 * One that is running already goes on.
 */
export const restartBaseline = define({
  does: 'Reads everything anew, and announces certifications that the ledger lacks.',
  command: z.strictObject({
    command: z.literal('restart-baseline'),
    reason: z.optional(reason),
    by,
  }),
  result: z.object({
    /** `false`: a baseline is running, and goes on; nothing was changed. */
    changed: z.boolean(),
    paused,
  }),
  changes: () => true,
  hasChanged: ({ changed }) => changed,
  carry(parts, _command, call) {
    const { clock, ledger, settings } = parts;
    return underLease(parts, call, async (state) => {
      const changed = state.baseline.status === 'completed';
      const { today } = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
      if (changed) await ledger.saveState(readAnew(today));
      return { result: { changed, ...ifPaused(state) } };
    });
  },
});

/** The pulse is looked at anew with it, a day that was being read is read again, and nothing was missed before. */
export const readAnew = (startDay: Temporal.PlainDate): StateChanges => ({
  baseline: { status: 'running', startDay, isAnew: true },
  pulseDigest: undefined,
  missing: undefined,
  cursor: undefined,
});
