import * as z from 'zod';
import { jsonText } from '../lambda/json-text.ts';
import { environment } from '../lambda/names.ts';
import type { LocalPlan } from './aws/interpret.ts';

const integration = z.pipe(
  jsonText,
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
export const withSettings = (
  plan: LocalPlan,
  change: (settings: Settings) => Partial<Settings>,
): LocalPlan => changed(plan, environment.integration, integration, change);

const timetable = z.pipe(jsonText, z.looseObject({ everySeconds: z.number() }));

/** A stack with its own partner, at another pace and with another first change. */
export const withTimetable = (
  plan: LocalPlan,
  change: (timetable: { readonly everySeconds: number }) => object,
): LocalPlan => changed(plan, 'SANDBOX', timetable, change);

/** Changes a variable in the functions whose value fits the schema. */
function changed<Value extends object>(
  plan: LocalPlan,
  variable: string,
  schema: z.ZodType<Value>,
  change: (value: Value) => object,
): LocalPlan {
  const functions = plan.functions.map((one) => {
    const { data } = schema.safeParse(one.environment[variable]);
    if (data === undefined) return one;
    const other = JSON.stringify({ ...data, ...change(data) });
    return { ...one, environment: { ...one.environment, [variable]: other } };
  });
  return { ...plan, functions };
}
