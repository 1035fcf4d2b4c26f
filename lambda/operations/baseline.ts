import type { DayEntry } from '../detection/calendar.ts';
import type { State } from '../ports.ts';
import { problemOf } from './answer.ts';
import type { CommandOf } from './command.ts';
import type { ResultOf } from './contract.ts';
import { recordedState, underLease } from './lease.ts';
import type { Call, OperationParts, Outcome } from './parts.ts';

/** How far the first full read is. */
export async function baseline(
  parts: OperationParts,
  command: CommandOf<'baseline'>,
  { limit }: Call,
): Promise<Outcome<ResultOf<'baseline'>>> {
  const state = await recordedState(parts);
  const progress = progressOf(state, await parts.ledger.calendar(state.years));
  if (!command.partner) return { result: progress };
  try {
    const total = await parts.partner.count({}, limit.deadline);
    return { result: { ...progress, total } };
  } catch (error) {
    return { result: { ...progress, problem: problemOf(error) } };
  }
}

/** It proceeds from the newest day to the oldest; when it was restarted, all days have counts already. */
export function progressOf(
  { baseline: { status, startDay, before } }: Pick<State, 'baseline'>,
  calendar: ReadonlyMap<string, DayEntry>,
) {
  const from = status === 'completed' ? '' : before?.toString();
  let counted = 0;
  for (const [day, { count }] of calendar) if (from !== undefined && day >= from) counted += count;
  return {
    status,
    ...(startDay && { startDay: startDay.toString() }),
    ...(before && status === 'running' && { before: before.toString() }),
    counted: Math.max(0, counted),
  };
}

/**
 * The next ticks read everything anew. What the ledger knows is compared, so that nothing is announced
 * twice; what it does not know yet is announced as far as the settings say of a baseline.
 */
export function restartBaseline(
  parts: OperationParts,
  _command: CommandOf<'restart-baseline'>,
  call: Call,
): Promise<Outcome<ResultOf<'restart-baseline'>>> {
  return underLease(parts, call, async ({ baseline: { status, before } }) => {
    const changed = status === 'completed' || before !== undefined;
    if (changed) await parts.opsLedger.restartBaseline();
    return { result: { changed } };
  });
}
