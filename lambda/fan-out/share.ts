import { isBackingOff, paceAt, shareOf, unhurried } from '../detection/pace.ts';
import type { State } from '../ports/state.ts';
import type { FanOutParts } from './parts.ts';

type Asking = Pick<FanOutParts, 'partner' | 'settings' | 'clock'>;

/**
 * Limits a task to its share of the pace: as set, or as the ticks have learned if they were refused
 * later than this process. The requests that ticks count in their minute do not concern a task.
 *
 * @param atOnce tasks that ask the partner at the same time
 * @returns why the partner must not be asked just now, if there is a reason
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
  if (taught && (taught.refusal?.at ?? 0) >= (pace.value.refusal?.at ?? 0)) {
    const { refusal } = taught;
    const share = refusal?.learned !== undefined && {
      refusal: { ...refusal, learned: shareOf(refusal.learned, atOnce) },
    };
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
