import type { Plan } from './aws/interpret.ts';
import { withSettings } from './function-settings.ts';

/**
 * A stack whose ticks come at another pace than its template says: the functions and the schedule know,
 * so that what they tell of it is true here, too.
 */
export function paced(plan: Plan, seconds: number): Plan {
  return {
    ...withSettings(plan, () => ({ every: seconds / 60 })),
    schedules: plan.schedules.map((schedule) => ({
      ...schedule,
      expression: `rate(${seconds} ${seconds === 1 ? 'second' : 'seconds'})`,
    })),
  };
}
