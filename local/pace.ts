import * as z from 'zod';
import { environment } from '../lambda/names.ts';
import type { Plan } from './aws/interpret.ts';

const integration = z
  .string()
  .transform((text) => JSON.parse(text))
  .pipe(z.looseObject({ every: z.number() }));

/**
 * A stack whose ticks come at another pace than its template says: the functions and the schedule know,
 * so that what they tell of it is true here, too.
 */
export function paced(plan: Plan, seconds: number): Plan {
  const name = environment.integration;
  return {
    ...plan,
    functions: plan.functions.map((one) => {
      const settings = integration.safeParse(one.environment[name]);
      if (!settings.success) return one;
      const other = JSON.stringify({ ...settings.data, every: seconds / 60 });
      return { ...one, environment: { ...one.environment, [name]: other } };
    }),
    schedules: plan.schedules.map((schedule) => ({
      ...schedule,
      expression: `rate(${seconds} ${seconds === 1 ? 'second' : 'seconds'})`,
    })),
  };
}
