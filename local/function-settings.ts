import * as z from 'zod';
import { environment } from '../lambda/names.ts';
import type { Plan } from './aws/interpret.ts';

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

/** What a function's environment says of its integration. @throws ZodError where it says nothing */
export const settingsIn = ({
  [environment.integration]: text,
}: Readonly<Record<string, string>>): Settings => integration.parse(text);

/** A stack whose functions are told other settings of their integration than its template says. */
export function withSettings(plan: Plan, change: (settings: Settings) => Partial<Settings>): Plan {
  const name = environment.integration;
  return {
    ...plan,
    functions: plan.functions.map((one) => {
      const settings = integration.safeParse(one.environment[name]);
      if (!settings.success) return one;
      const other = JSON.stringify({ ...settings.data, ...change(settings.data) });
      return { ...one, environment: { ...one.environment, [name]: other } };
    }),
  };
}
