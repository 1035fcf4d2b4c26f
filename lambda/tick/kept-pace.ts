import { isDeepStrictEqual } from 'node:util';
import { isTooSlow, remembered } from '../detection/pace.ts';
import type { State } from '../ports/state.ts';
import type { Conditions } from './conditions.ts';
import type { TickParts } from './parts.ts';

/**
 * What the next tick has to know of the pace, and people of a host that is too slow. Whatever becomes of the tick:
 * without it the next one would only be refused again, so that it cannot be kept must not hide how the tick ended.
 */
export async function keepPace(
  { ledger, partner, clock, journal }: TickParts,
  before: State,
  conditions: Conditions,
): Promise<void> {
  const { pace } = partner;
  try {
    const nowMs = clock.now().epochMilliseconds;
    const kept = remembered(pace.value, pace.perMinute, nowMs);
    const isSlow = isTooSlow(pace.value, pace.perMinute, nowMs);
    if (!isDeepStrictEqual(kept, before.pace)) await ledger.saveState({ pace: kept });
    if (isSlow !== undefined) await conditions.paced(isSlow, kept?.learned);
  } catch (error) {
    journal.warn('pace not kept', { error });
  }
}
