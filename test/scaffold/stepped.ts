import { type Done, fold } from '../../lambda/tick/done.ts';
import type { Step, TickParts } from '../../lambda/tick/parts.ts';

/** Carries out a step of a tick alone, from this state on: its result, and the state afterwards. */
export async function stepped<End>(
  { clock, journal }: Pick<TickParts, 'clock' | 'journal'>,
  before: Done,
  step: Step<End>,
): Promise<{ readonly end: End; readonly done: Done }> {
  let done = before;
  for (;;) {
    const next = await step.next(done);
    if (next.done) return { end: next.value, done };
    done = fold(done, next.value, clock.now());
    if (next.value?.is === 'warned') journal.warn(next.value.what, next.value.details);
  }
}
