import { recentWindow } from '../detection/days.ts';
import { auditPlanOf, calendarLearned } from '../detection/due.ts';
import { noLease } from '../ports/state.ts';
import { readCalendar } from '../tick/read-days.ts';
import type { TickRun } from '../tick/tick.ts';
import { TimeLimit } from '../tick/time-limit.ts';
import { AtWorkError, BaselineRestartedError, BaselineUnfinishedError } from './errors.ts';
import type { FanOutParts } from './parts.ts';
import { leftOf } from './plan.ts';

/**
 * Ends the baseline once every range is read: from then on, the ticks announce their findings. It
 * takes the lease of the integration, so that no tick works meanwhile.
 *
 * @throws BaselineUnfinishedError naming the ranges that are not read
 * @throws AtWorkError, BaselineRestartedError, and the errors of the ports
 */
export async function complete(parts: FanOutParts, run: TickRun) {
  const { ledger, fanOut, clock, journal, settings } = parts;
  const { begunAt } = (await ledger.state()).baseline;
  const ranges = (begunAt !== undefined && (await fanOut.plan(begunAt))) || [];
  const left = await leftOf(fanOut, ranges);
  if (left.length > 0 || ranges.length === 0)
    throw new BaselineUnfinishedError(left, ranges.length);

  const lease = new TimeLimit(run.deadline, clock).leaseOf(run.id);
  const { baseline, dirtySince } = (await ledger.takeLease(lease, clock.now())) ?? {};
  if (baseline === undefined) throw new AtWorkError();
  try {
    if (baseline.begunAt !== begunAt) throw new BaselineRestartedError();
    if (baseline.status !== 'completed') {
      const window = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
      const calendar = await readCalendar(parts, window, lease);
      const plan = auditPlanOf(calendar, window.from, settings.audit);
      const learned = {
        ...calendarLearned(calendar, plan, 0),
        // The next tick tells ops.
        baseline: { ...baseline, status: 'completed', isNoticeOwed: true },
        dueAt: 0,
        // Events of an earlier tick may still be owed.
        dirtySince,
        heartbeat: clock.now().toString(),
      } as const;
      if (!(await ledger.saveState({ ...learned, ...noLease }, lease))) throw new AtWorkError();
    }
  } finally {
    await ledger
      .saveState(noLease, lease)
      .catch((error: unknown) => journal.warn('lease not given back', { error }));
  }
  return { outcome: 'completed', ranges: ranges.length } as const;
}
