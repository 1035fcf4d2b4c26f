import type { Plan } from './aws/interpret.ts';
import { withSettings } from './function-settings.ts';

/**
 * A stack whose ticks come at another pace than its template says: the functions and the schedule know,
 * so that what they tell of it is true here, too. What has gone is looked at again after as many ticks.
 */
export function paced(plan: Plan, seconds: number): Plan {
  const expression = `rate(${seconds} ${seconds === 1 ? 'second' : 'seconds'})`;
  return {
    ...withSettings(plan, ({ every, withdrawAfter }) => ({
      every: seconds / 60,
      withdrawAfter: (withdrawAfter * seconds) / (60 * every),
    })),
    schedules: plan.schedules.map((schedule) =>
      // Of ticks: self-checks have an input, and another pace.
      schedule.input === undefined ? { ...schedule, expression } : schedule,
    ),
  };
}
