import type { State } from '../ports/state.ts';
import { isBackingOff } from '../tick/back-off.ts';
import { BackingOffError, PausedError } from './errors.ts';
import type { OperationParts } from './parts.ts';

/**
 * Before a question to the partner on the side. While ops have paused the integration it is not asked;
 * nor after a refusal, when each question would be another try at a login. Only commands whose whole
 * point is to ask do so all the same: `check` and `accept-total`.
 *
 * @throws PausedError, BackingOffError
 */
export function refuseIfLeftAlone(
  state: Pick<State, 'paused' | 'backOff'> | undefined,
  parts: Pick<OperationParts, 'clock'>,
): void {
  if (state?.paused) throw new PausedError();
  if (state !== undefined && isBackingOff(state, parts)) throw new BackingOffError();
}
