import { isDeepStrictEqual } from 'node:util';
import type { State } from '../ports/state.ts';
import type { Conditions } from './conditions.ts';
import type { TickParts } from './parts.ts';

/**
 * What the next tick has to know of the pace, and people of a host that is too slow. Whatever becomes of the tick:
 * without it the next one would only be refused again, so that it cannot be kept must not hide how the tick ended.
 */
export async function keepPace(
  { ledger, partner, journal }: TickParts,
  before: State,
  conditions: Conditions,
): Promise<void> {
  const { pace } = partner;
  try {
    const isTooSlow = pace.isTooSlow();
    const kept = pace.remembered();
    if (!isDeepStrictEqual(kept, before.pace)) await ledger.saveState({ pace: kept });
    if (isTooSlow !== undefined) await conditions.paced(isTooSlow, kept?.learned);
  } catch (error) {
    journal.warn('pace not kept', { error });
  }
}
