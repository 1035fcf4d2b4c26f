import * as z from 'zod/mini';
import type { State } from '../decisions/state.ts';
import { define } from './definition.ts';
import { by, paused, reason, reasonIfAny } from './shapes.ts';
import { setting } from './words.ts';

const pauseResult = z.object({
  /** `false`: it was so already, and nothing has changed. */
  changed: z.boolean(),
  paused,
});

/**
 * Pauses the integration: ticks look at the state and end. The first pause is remembered, with its
 * `by`.
 */
export const pause = define({
  does: 'Stops an integration: ticks do nothing until it is resumed.',
  command: z.strictObject({
    command: z.literal('pause'),
    reason: setting(reason, 'why, for those who read the status'),
    by,
  }),
  result: pauseResult,
  async carry({ ledger, opsLedger, clock }, { by, reason }, { id }) {
    // Creates the state, so that an integration can be paused before its very first tick.
    await ledger.state();
    const changed = await opsLedger.pause({ since: clock.now(), by, reason }, id);
    return { result: { changed, ...ifPaused(await ledger.state()) } };
  },
});

export const resume = define({
  does: 'Lets the ticks of a paused integration go on.',
  command: z.strictObject({ command: z.literal('resume'), reason: reasonIfAny, by }),
  result: pauseResult,
  async carry({ opsLedger }, _command, { id }) {
    return { result: { changed: await opsLedger.resume(id) } };
  },
});

/** Part of the answer to commands that take effect only when the integration is resumed. */
export function ifPaused(state: State | undefined): { readonly paused?: z.output<typeof paused> } {
  if (!state?.paused) return {};
  return { paused: { ...state.pause, since: state.pause?.since.toString() } };
}
