import { isDeepStrictEqual } from 'node:util';
import { remembered } from '../detection/pace.ts';
import type { State } from '../ports/state.ts';
import type { TickParts } from './parts.ts';

/**
 * What the next tick has to know of the pace. Whatever becomes of the tick:
 * without it the next one would only be refused again, so that it cannot be kept must not hide how the tick ended.
 */
export async function keepPace(
  { ledger, partner, clock, journal }: TickParts,
  before: State,
): Promise<void> {
  const { pace } = partner;
  try {
    const kept = remembered(pace.value, pace.perMinute, clock.now().epochMilliseconds);
    if (!isDeepStrictEqual(kept, before.pace)) await ledger.saveState({ pace: kept });
  } catch (error) {
    journal.warn('pace not kept', { error });
  }
}
