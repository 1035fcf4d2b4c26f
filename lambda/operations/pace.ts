import type { Clock } from '../clock.ts';
import type { Call } from './parts.ts';

/** Kept free of the call for its answer. */
const answerMs = 5_000;

export interface Pace {
  /** On average. */
  readonly perSecond: number;
  readonly clock: Clock;
  readonly killedAt: Call['killedAt'];
}

/**
 * Sends some, and takes as long for it as so many may take. The time is spent afterwards, and by the
 * last of a call, too: the next call knows nothing of them, and begins at once.
 *
 * @param send tells how many; should they be more than the call has time for, they take the rest of it
 */
export async function atPace(
  { perSecond, clock, killedAt }: Pace,
  send: () => Promise<number>,
): Promise<void> {
  const began = clock.now().epochMilliseconds;
  const many = await send();
  const over = began + Math.ceil((many * 1_000) / perSecond);
  const latest = killedAt.epochMilliseconds - answerMs;
  const waitMs = Math.min(over, latest) - clock.now().epochMilliseconds;
  if (waitMs > 0) await clock.sleep(waitMs);
}
