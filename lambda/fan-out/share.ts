import { paceAt, shareOf, unhurried } from '../detection/pace.ts';
import type { State } from '../ports/state.ts';
import type { FanOutParts } from './parts.ts';

type Asking = Pick<FanOutParts, 'partner' | 'settings' | 'clock'>;

/**
 * A task asks the partner for no more than its share: of the pace that is set, or of what the ticks were taught
 * since this process was itself. What they count of a minute is theirs.
 *
 * @param atOnce tasks that ask the partner at the same time
 */
export function takeShare(
  { partner: { pace }, settings }: Asking,
  { pace: taught }: Pick<State, 'pace'>,
  atOnce: number,
): void {
  pace.perMinute = shareOf(settings.requestsPerMinute, atOnce);
  if (taught === undefined || (taught.refusedAt ?? 0) < (pace.value.refusedAt ?? 0)) return;
  const { learned } = taught;
  pace.value = {
    ...taught,
    ...unhurried,
    ...(learned !== undefined && { learned: shareOf(learned, atOnce) }),
  };
}

/** In how many seconds the pace has room for another request. */
export function secondsToWait({ partner: { pace }, clock }: Asking): number {
  const nowMs = clock.now().epochMilliseconds;
  const { opensAt } = paceAt(pace.value, pace.perMinute, nowMs);
  return Math.ceil((opensAt - nowMs) / 1_000);
}
