import type { Temporal } from 'temporal-polyfill';
import { recentWindow } from '../detection/days.ts';
import { lostOf, mayGo, nothingMissing } from '../detection/missing.ts';
import type { State, StateChanges } from '../ports/state.ts';
import type { ResultOf } from './contract.ts';
import { TotalChangedError } from './errors.ts';
import { underLease } from './lease.ts';
import type { Carriers } from './parts.ts';

/** By which the partner's total may differ from the one that was looked at. */
const tolerance = 0.1;

/** Commands that change how ticks go on. */
export const steering: Pick<
  Carriers,
  'tick' | 'pause' | 'resume' | 'restart-baseline' | 'accept-total' | 'credentials-stored'
> = {
  /** One tick now, in this function: the lease keeps it and the scheduled ones apart. */
  async tick(parts, _command, { id, killedAt }) {
    const result = await parts.tick({ id, deadline: killedAt });
    return { result, failure: result.outcome === 'disturbed' ? result.failure : undefined };
  },

  /** Stops the integration: ticks look at the state and end. Who has paused it first is remembered. */
  async pause({ ledger, opsLedger, clock }, { by, reason }, { id }) {
    // Also before the very first tick: there is something to be paused then.
    await ledger.state();
    const changed = await opsLedger.pause({ since: clock.now(), by, reason }, id);
    return { result: { changed, ...ifPaused(await ledger.state()) } };
  },

  async resume({ opsLedger }, _command, { id }) {
    return { result: { changed: await opsLedger.resume(id) } };
  },

  /**
   * The next ticks read everything anew. What the ledger knows is compared, so that nothing is announced
   * twice; what it does not know yet is news, as ever after the first baseline, or a flood that is held.
   * One that is running already goes on.
   */
  'restart-baseline': (parts, _command, call) => {
    const { clock, ledger, settings } = parts;
    return underLease(parts, call, async (state) => {
      const changed = state.baseline.status === 'completed';
      const { today } = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
      if (changed) await ledger.saveState(readAnew(today));
      return { result: { changed, ...ifPaused(state) } };
    });
  },

  /**
   * Too many are missing at the partner to be withdrawn, and ops say that its total is right: as many as
   * are missing now may go, after two looks like any other. More than these wait for ops again.
   *
   * @throws TotalChangedError
   */
  'accept-total': (parts, { total }, call) => {
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

  /** The next tick asks the partner again, whatever it refused before. Before the first tick it does anyway. */
  async 'credentials-stored'({ ledger }, command, { operation }) {
    if (!command.stored)
      return { result: { changed: false, next: { ...command, stored: true, operation } } };
    const changed = (await ledger.recordedState())?.backOff !== undefined;
    if (changed) await ledger.saveState({ backOff: undefined });
    return { result: { changed } };
  },
};

/** Part of the answer to what only happens when the integration is resumed. */
export function ifPaused(state: State | undefined): Pick<ResultOf<'status'>, 'paused'> {
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
