import type { Temporal } from 'temporal-polyfill';
import type { LocalPlan } from './aws/interpret.ts';
import { withSettings, withTimetable } from './function-settings.ts';

/**
 * The stack with ticks at another pace. The functions and the schedule know the pace, so their texts are true here,
 * too. A missing certification gets its second look after the same number of ticks. The stack's own partner makes the
 * same number of changes between two ticks, and starts with a few changes of each kind.
 */
export function paced(plan: LocalPlan, seconds: number, now: Temporal.Instant): LocalPlan {
  const expression = `rate(${seconds} ${seconds === 1 ? 'second' : 'seconds'})`;
  const lively = withTimetable(plan, ({ everySeconds }) => {
    const since = now.subtract({ seconds: Math.ceil((40 * everySeconds * seconds) / 60) });
    return {
      everySeconds: (everySeconds * seconds) / 60,
      since: since.epochMilliseconds,
      until: since.subtract({ hours: 48 }).toString().slice(0, 10),
    };
  });
  return {
    ...withSettings(lively, ({ every, withdrawAfter }) => ({
      every: seconds / 60,
      withdrawAfter: (withdrawAfter * seconds) / (60 * every),
    })),
    schedules: plan.schedules.map((schedule) =>
      // Only the schedules of ticks: those of self-checks have an input and keep their pace.
      schedule.input === undefined ? { ...schedule, expression } : schedule,
    ),
  };
}
