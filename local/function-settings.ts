import * as z from 'zod';
import { environment } from '../lambda/names.ts';
import type { FunctionPlan, Plan } from './aws/interpret.ts';

const integration = z
  .string()
  .transform((text) => JSON.parse(text))
  .pipe(
    z.looseObject({
      name: z.string(),
      baseUrl: z.string(),
      every: z.number(),
      withdrawAfter: z.number(),
    }),
  );

type Settings = z.output<typeof integration>;

/** The settings of its integration in a function's environment. @throws ZodError where it says nothing */
export const settingsIn = ({
  [environment.integration]: text,
}: Readonly<Record<string, string>>): Settings => integration.parse(text);

/** A stack whose functions are told other settings of their integration than its template says. */
export function withSettings(plan: Plan, change: (settings: Settings) => Partial<Settings>): Plan {
  return changed(plan, environment.integration, (text) => {
    const settings = integration.safeParse(text);
    return settings.success ? { ...settings.data, ...change(settings.data) } : undefined;
  });
}

const timetable = z
  .string()
  .transform((text) => JSON.parse(text))
  .pipe(z.looseObject({ everySeconds: z.number() }));

/** A stack with a partner of its own, in which time goes at another pace, and that begins at another moment. */
export function withTimetable(
  plan: Plan,
  change: (everySeconds: number) => { everySeconds: number; since: number; until: string },
): Plan {
  return changed(plan, 'SANDBOX', (text) => {
    const sandbox = timetable.safeParse(text);
    return sandbox.success ? { ...sandbox.data, ...change(sandbox.data.everySeconds) } : undefined;
  });
}

/** @param change from the value of the variable; undefined leaves it as it is */
function changed(
  plan: Plan,
  variable: string,
  change: (text: string | undefined) => object | undefined,
): Plan {
  return {
    ...plan,
    functions: plan.functions.map((one): FunctionPlan => {
      const other = change(one.environment[variable]);
      if (other === undefined) return one;
      return { ...one, environment: { ...one.environment, [variable]: JSON.stringify(other) } };
    }),
  };
}
