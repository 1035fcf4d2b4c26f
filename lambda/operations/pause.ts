import type { State } from '../ports/state.ts';
import type { ResultOf } from './contract.ts';
import type { Carrier } from './parts.ts';

type Paused = NonNullable<ResultOf<'status'>['paused']>;

/** Stops the integration: ticks look at the state and end. Who has paused it first is remembered. */
export const pause: Carrier<'pause'> = async (
  { ledger, opsLedger, clock },
  { by, reason },
  { id },
) => {
  // Also before the very first tick: there is something to be paused then.
  await ledger.state();
  const changed = await opsLedger.pause({ since: clock.now(), by, reason }, id);
  return { result: { changed, paused: true, ...whoPaused(await ledger.state()) } };
};

export const resume: Carrier<'resume'> = async ({ opsLedger }, _command, { id }) => {
  return { result: { changed: await opsLedger.resume(id), paused: false } };
};

/** Part of the answer to what only happens when the integration is resumed. */
export function ifPaused(state: State | undefined): { readonly paused?: Paused } {
  return state?.paused ? { paused: whoPaused(state) } : {};
}

/** Since when and why, too, as far as it was said. */
function whoPaused({ pause }: State): Paused {
  if (pause === undefined) return {};
  const { since, by, reason } = pause;
  return { since: since.toString(), ...(by !== undefined && { by }), reason };
}
