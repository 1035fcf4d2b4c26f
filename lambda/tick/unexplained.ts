import type { State } from '../ports/state.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

/**
 * By how much the total differs although no day does: one that is new is believed if the partner still
 * says that total.
 *
 * @param total what the partner counted when the tick began
 * @param expected what the calendar expects now
 * @param differs whether there was something to search for
 * @returns `undefined` if it does not
 */
export async function unexplainedBy(
  { partner, rules }: Pick<TickParts, 'partner' | 'rules'>,
  limit: TimeLimit,
  before: Pick<State, 'unexplained'>,
  { total, expected, differs }: { total: number; expected: number; differs: boolean },
): Promise<number | undefined> {
  const unexplained = total - expected;
  const known = rules.knownUnexplained(unexplained, before.unexplained, differs);
  if (known !== undefined) return known;
  const now = await limit.ask((deadline) => partner.count({}, deadline));
  if (now === expected) return 0;
  return now === total ? unexplained : undefined;
}
