import type { Temporal } from 'temporal-polyfill';
import type { DayEntry } from '../detection/calendar.ts';
import { recentWindow } from '../detection/days.ts';
import type { State, StateChanges } from '../ports/state.ts';
import { problemOf } from './answer.ts';
import { recordedState, underLease } from './lease.ts';
import { refuseIfLeftAlone } from './left-alone.ts';
import type { Carrier, OperationParts } from './parts.ts';
import { ifPaused } from './pause.ts';

/** How far the first full read is. */
export const baseline: Carrier<'baseline'> = async (parts, command, { limit }) => {
  const state = await recordedState(parts);
  const progress = {
    ...progressOf(state, await parts.ledger.calendar(state.years), parts.settings.baseline),
    ...ifPaused(state),
  };
  if (!command.partner) return { result: progress };
  try {
    refuseIfLeftAlone(state, parts);
    const total = await parts.partner.count({}, limit.deadline);
    return { result: { ...progress, total } };
  } catch (error) {
    return { result: { ...progress, problem: problemOf(error) } };
  }
};

/**
 * By the days that were read since it began: when it was restarted, all days have counts already, and
 * a fan-out reads them in any order.
 */
export function progressOf(
  { baseline: { status, startDay, begunAt, before } }: Pick<State, 'baseline'>,
  calendar: ReadonlyMap<string, DayEntry>,
  reads: OperationParts['settings']['baseline'],
) {
  const since = status === 'completed' ? 0 : (begunAt ?? Number.POSITIVE_INFINITY);
  const isBackwards = status === 'running' && reads !== 'fan-out';
  let counted = 0;
  for (const { count, readAt } of calendar.values()) if (readAt >= since) counted += count;
  return {
    status,
    ...(startDay && { startDay: startDay.toString() }),
    ...(before && isBackwards && { before: before.toString() }),
    counted: Math.max(0, counted),
  };
}

/** The pulse is looked at anew with it, a day that was being read is read again, and nothing was missed before. */
export const readAnew = (startDay: Temporal.PlainDate): StateChanges => ({
  baseline: { status: 'running', startDay, isAnew: true },
  pulseDigest: undefined,
  missing: undefined,
  cursor: undefined,
});

/**
 * The next ticks read everything anew. What the ledger knows is compared, so that nothing is announced
 * twice; what it does not know yet is news, as ever after the first baseline, or a flood that is held.
 * One that is running already goes on.
 */
export const restartBaseline: Carrier<'restart-baseline'> = (parts, _command, call) => {
  const { clock, ledger, settings } = parts;
  return underLease(parts, call, async (state) => {
    const changed = state.baseline.status === 'completed';
    const { today } = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
    if (changed) await ledger.saveState(readAnew(today));
    return { result: { changed, ...ifPaused(state) } };
  });
};
