import { isBackingOff, paceAt, shareOf, unhurried } from '../detection/pace.ts';
import type { State } from '../ports/state.ts';
import type { FanOutParts } from './parts.ts';

type Asking = Pick<FanOutParts, 'partner' | 'settings' | 'clock'>;

/**
 * A task asks the partner for no more than its share: of the pace that is set, or of what the ticks were taught
 * since this process was itself. What they count of a minute is theirs.
 *
 * @param atOnce tasks that ask the partner at the same time
 * @returns why no request is to be made to the partner just now, if there is a reason
 */
export function takeShare(
  { partner: { pace }, settings, clock }: Asking,
  state: State,
  atOnce: number,
): 'paused' | 'backing-off' | undefined {
  if (state.paused) return 'paused';
  if (isBackingOff(state, clock.now())) return 'backing-off';
  pace.perMinute = shareOf(settings.requestsPerMinute, atOnce);
  const { pace: taught } = state;
  if (taught && (taught.refusedAt ?? 0) >= (pace.value.refusedAt ?? 0)) {
    const { learned } = taught;
    const share = learned !== undefined && { learned: shareOf(learned, atOnce) };
    pace.value = { ...taught, ...unhurried, ...share };
  }
  return undefined;
}

/** In how many seconds the pace has room for another request. */
export function secondsToWait({ partner: { pace }, clock }: Asking): number {
  const nowMs = clock.now().epochMilliseconds;
  const { opensAt } = paceAt(pace.value, pace.perMinute, nowMs);
  return Math.ceil((opensAt - nowMs) / 1_000);
}
