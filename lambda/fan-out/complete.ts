import { recentWindow } from '../detection/days.ts';
import { leaseOf } from '../lease.ts';
import type { Lease, State } from '../ports/state.ts';
import { tellOfCompletion } from '../tick/baseline.ts';
import { calendarLearned, readCalendar } from '../tick/calendar.ts';
import { BaselineRestartedError, BaselineUnfinishedError, NotCompletedYetError } from './errors.ts';
import type { FanOutParts, TaskRun } from './parts.ts';

export interface Completion {
  readonly outcome: 'completed';
  readonly stretches: number;
}

/**
 * Ends the baseline, once every stretch has been read: from here on the ticks announce what they
 * find. Takes the lease of the integration, so that no tick is at work meanwhile.
 *
 * @throws BaselineUnfinishedError naming what has not been read
 * @throws NotCompletedYetError, and what the ports throw
 */
export async function complete(parts: FanOutParts, run: TaskRun): Promise<Completion> {
  const { ledger, fanOut, clock, journal } = parts;
  const { begunAt } = (await ledger.state()).baseline;
  const stretches = (begunAt !== undefined && (await fanOut.plan(begunAt))) || [];
  const progress = await fanOut.progressOf(stretches);
  const left = stretches.filter((_, index) => !progress[index]?.isDone);
  if (left.length > 0 || stretches.length === 0)
    throw new BaselineUnfinishedError(left, stretches.length);

  const lease = leaseOf(run.id, run.deadline);
  const state = await ledger.takeLease(lease, clock.now());
  if (state === undefined) throw new NotCompletedYetError('a tick is at work');
  try {
    if (state.baseline.begunAt !== begunAt) throw new BaselineRestartedError();
    if (state.baseline.status !== 'completed') await end(parts, state, lease);
  } finally {
    await ledger
      .giveBackLease(lease)
      .catch((error: unknown) => journal.warn('lease not given back', { error }));
  }
  return { outcome: 'completed', stretches: stretches.length };
}

async function end(parts: FanOutParts, state: State, lease: Lease): Promise<void> {
  const { ledger, clock, settings } = parts;
  const window = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
  const calendar = await readCalendar(ledger, window);
  if (!(await tellOfCompletion(parts, calendar)))
    throw new NotCompletedYetError('operations could not be told');
  const { dirtySince } = state;
  const isKept = await ledger.complete(lease, clock.now(), {
    // What an earlier tick may owe is still owed.
    dirtySince,
    baseline: { ...state.baseline, status: 'completed' },
    ...calendarLearned(calendar, window, settings.audit, 0),
  });
  if (!isKept) throw new NotCompletedYetError('the lease was lost');
}
