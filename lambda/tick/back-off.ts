import { Temporal } from 'temporal-polyfill';
import type { State } from '../ports/state.ts';
import type { TickParts } from './parts.ts';

const firstMinutes = 2;
const longestMinutes = 60;

/** Whether the partner is still to be left alone after it refused what only people can mend. */
export function isBackingOff(
  { backOff }: Pick<State, 'backOff'>,
  { clock }: Pick<TickParts, 'clock'>,
): boolean {
  return backOff !== undefined && Temporal.Instant.compare(clock.now(), backOff.until) < 0;
}

/** Each refusal in a row doubles the time. That it cannot be noted must not hide the refusal. */
export async function noteRefusal(state: State, parts: TickParts): Promise<void> {
  const { ledger, clock, journal } = parts;
  const failures = (state.backOff?.failures ?? 0) + 1;
  const minutes = Math.min(firstMinutes * 2 ** (failures - 1), longestMinutes);
  try {
    await ledger.saveState({ backOff: { until: clock.now().add({ minutes }), failures } });
  } catch (error) {
    journal.warn('back-off not noted', { error });
  }
}
