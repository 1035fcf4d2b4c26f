import * as z from 'zod';
import { environment } from '../lambda/names.ts';
import type { FunctionPlan, LocalPlan } from './aws/interpret.ts';

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

/** The settings of the integration in a function's environment. @throws ZodError if there are none */
export const settingsIn = ({
  [environment.integration]: text,
}: Readonly<Record<string, string>>): Settings => integration.parse(text);

/** The stack, with other settings of the integrations in its functions. */
export function withSettings(
  plan: LocalPlan,
  change: (settings: Settings) => Partial<Settings>,
): LocalPlan {
  return changed(plan, environment.integration, (text) => {
    const settings = integration.safeParse(text);
    return settings.success ? { ...settings.data, ...change(settings.data) } : undefined;
  });
}

const timetable = z
  .string()
  .transform((text) => JSON.parse(text))
  .pipe(z.looseObject({ everySeconds: z.number() }));

/** A stack with its own partner, at another pace and with another first change. */
export function withTimetable(
  plan: LocalPlan,
  change: (everySeconds: number) => { everySeconds: number; since: number; until: string },
): LocalPlan {
  return changed(plan, 'SANDBOX', (text) => {
    const sandbox = timetable.safeParse(text);
    return sandbox.success ? { ...sandbox.data, ...change(sandbox.data.everySeconds) } : undefined;
  });
}

/** @param change gets the variable's value; undefined leaves it unchanged */
function changed(
  plan: LocalPlan,
  variable: string,
  change: (text: string | undefined) => object | undefined,
): LocalPlan {
  return {
    ...plan,
    functions: plan.functions.map((one): FunctionPlan => {
      const other = change(one.environment[variable]);
      if (other === undefined) return one;
      return { ...one, environment: { ...one.environment, [variable]: JSON.stringify(other) } };
    }),
  };
}
