import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { recentWindow } from '../../detection/days.ts';
import { lostOf, mayGo, nothingMissing } from '../../detection/missing.ts';
import type { State, StateChanges } from '../../ports/state.ts';
import { define } from '../definition.ts';
import { TotalChangedError } from '../errors.ts';
import { underLease } from '../lease.ts';
import { by, byKind, count, next, operation, paused, reason } from '../shapes.ts';

/** By which the partner's total may differ from the one that was looked at. */
const tolerance = 0.1;

const steered = z.object({
  /** `false`: it was so already, or a baseline is running, and goes on; nothing was changed. */
  changed: z.boolean(),
  paused,
});
const why = { reason: z.optional(reason), by };

/** One tick now, in this function: the lease keeps it and the scheduled ones apart. */
export const tick = define({
  does: 'Runs a tick now, beside the schedule.',
  command: z.strictObject({ command: z.literal('tick'), by }),
  result: z.object({
    outcome: z.enum([
      'completed',
      'baseline',
      'busy',
      'paused',
      'backing-off',
      'no-credentials',
      'disturbed',
    ]),
    ...byKind.shape,
    recorded: count,
    delivered: count,
    undelivered: count,
    undeliverable: count,
    held: count,
    quarantined: count,
    failed: count,
    missing: count,
    cutShort: z.boolean(),
    requests: count,
    durationMs: z.number(),
  }),
  changes: () => true,
  hasChanged: ({ outcome }) => outcome === 'completed' || outcome === 'baseline',
  async carry(parts, _command, { id, killedAt }) {
    const result = await parts.tick({ id, deadline: killedAt });
    return { result, failure: result.outcome === 'disturbed' ? result.failure : undefined };
  },
});

/** Stops the integration: ticks look at the state and end. Who has paused it first is remembered. */
export const pause = define({
  does: 'Stops an integration: ticks do nothing until it is resumed.',
  command: z.strictObject({ command: z.literal('pause'), reason, by }),
  result: steered,
  changes: () => true,
  hasChanged: ({ changed }) => changed,
  async carry({ ledger, opsLedger, clock }, { by, reason }, { id }) {
    // Also before the very first tick: there is something to be paused then.
    await ledger.state();
    const changed = await opsLedger.pause({ since: clock.now(), by, reason }, id);
    return { result: { changed, ...ifPaused(await ledger.state()) } };
  },
});

export const resume = define({
  does: 'Lets the ticks of a paused integration go on.',
  command: z.strictObject({ command: z.literal('resume'), ...why }),
  result: steered,
  changes: () => true,
  hasChanged: ({ changed }) => changed,
  async carry({ opsLedger }, _command, { id }) {
    return { result: { changed: await opsLedger.resume(id) } };
  },
});

/**
 * The next ticks read everything anew. What the ledger knows is compared, so that nothing is announced
 * twice; what it does not know yet is news, as ever after the first baseline, or a flood that is held.
 * One that is running already goes on.
 */
export const restartBaseline = define({
  does: 'Reads everything anew, and announces certifications that the ledger lacks.',
  command: z.strictObject({ command: z.literal('restart-baseline'), ...why }),
  result: steered,
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

/**
 * Too many are missing at the partner to be withdrawn, and ops say that its total is right: as many as
 * are missing now may go, after two looks like any other. More than these wait for ops again.
 *
 * @throws TotalChangedError
 */
export const acceptTotal = define({
  does: 'Many certifications are missing at the partner, and its total is right.',
  command: z.strictObject({
    command: z.literal('accept-total'),
    /** What was looked at: accepted only if the partner still shows as many, within a tenth. */
    total: count,
    ...why,
  }),
  result: z.object({
    /** `false`: no more is missing than may be withdrawn; there is nothing to accept. */
    changed: z.boolean(),
    /** What the partner shows. */
    total: count,
    /** What was expected. */
    before: count,
    paused,
  }),
  changes: () => true,
  hasChanged: ({ changed }) => changed,
  carry(parts, { total }, call) {
    const { partner, ledger, clock } = parts;
    return underLease(parts, call, async (state) => {
      const shown = await partner.count({}, call.limit.deadline);
      const { missing = nothingMissing, expected, unexplained } = state;
      const known = expected + missing.total;
      const toBeFound = Math.max(0, expected + unexplained - shown);
      const totals = { known, missing: missing.total + toBeFound };
      const told = { total: shown, before: known + unexplained, ...ifPaused(state) };
      const now = clock.now().epochMilliseconds;
      if (mayGo(missing, totals, now)) return { result: { changed: false, ...told } };
      if (Math.abs(shown - total) > total * tolerance) throw new TotalChangedError(total, shown);
      const accepted = lostOf(missing, totals);
      await ledger.saveState({ missing: { ...missing, accepted, lookAt: now } });
      return { result: { changed: true, ...told } };
    });
  },
});

/** The next tick asks the partner again, whatever it refused before. Before the first tick it does anyway. */
export const credentialsStored = define({
  does: 'The secret has other credentials: the partner is asked again at once, also after a refusal.',
  command: z.strictObject({
    command: z.literal('credentials-stored'),
    /** `false`: they are about to be. It is noted who stores them, before it is done; `next` says that it was. */
    stored: z._default(z.boolean(), true),
    by,
    operation,
  }),
  /** `changed`: the partner was left alone after refusals, and no longer is. */
  result: z.object({ changed: z.boolean(), next }),
  changes: () => true,
  // Stored credentials are others than before, whether or not anything had to wait for them.
  hasChanged: ({ next }) => next === undefined,
  async carry({ ledger }, command, { operation }) {
    if (!command.stored)
      return { result: { changed: false, next: { ...command, stored: true, operation } } };
    const changed = (await ledger.recordedState())?.backOff !== undefined;
    if (changed) await ledger.saveState({ backOff: undefined });
    return { result: { changed } };
  },
});

/** Part of the answer to what only happens when the integration is resumed. */
export function ifPaused(state: State | undefined): { readonly paused?: z.output<typeof paused> } {
  if (!state?.paused) return {};
  return { paused: { ...state.pause, since: state.pause?.since.toString() } };
}

/** The pulse is looked at anew with it, a day that was being read is read again, and nothing was missed before. */
export const readAnew = (startDay: Temporal.PlainDate): StateChanges => ({
  baseline: { status: 'running', startDay, isAnew: true },
  pulseDigest: undefined,
  missing: undefined,
  cursor: undefined,
});
