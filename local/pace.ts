import type { Temporal } from 'temporal-polyfill';
import type { Plan } from './aws/interpret.ts';
import { withSettings, withTimetable } from './function-settings.ts';

/**
 * A stack whose ticks come at another pace than its template says: the functions and the schedule know
 * it, so their texts are true here, too. A missing certification gets its second look after as many ticks. A partner
 * of the stack changes as often between two ticks, and has lived for a few changes of each kind when it starts.
 */
export function paced(plan: Plan, seconds: number, now: Temporal.Instant): Plan {
  const expression = `rate(${seconds} ${seconds === 1 ? 'second' : 'seconds'})`;
  const lively = withTimetable(plan, (everySeconds) => {
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
      // Of ticks: self-checks have an input, and another pace.
      schedule.input === undefined ? { ...schedule, expression } : schedule,
    ),
  };
}
