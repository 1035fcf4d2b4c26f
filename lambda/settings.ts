import * as z from 'zod/mini';
import { errorOf } from './errors.ts';
import { jsonText } from './json-text.ts';
import { environment } from './names.ts';
import type { TickSettings } from './tick/parts.ts';

/** The function was deployed with an environment that it cannot work with. */
export class SettingsError extends errorOf('settings-invalid', 'ops') {
  readonly whatToDo = 'Deploy again with `npx cdk deploy`; do not edit the environment by hand.';

  constructor(problems: readonly string[]) {
    super(`The environment is not usable: ${problems.join('; ')}.`);
  }
}

const integration = z.strictObject({
  name: z.string().check(z.minLength(1)),
  baseUrl: z.url(),
  timeZone: z.string().check(z.minLength(1)),
  recentDays: z.int().check(z.positive()),
  /** Minutes between two ticks; deployed, whole ones. */
  every: z.number().check(z.positive()),
  tokenRequest: z.enum(['form', 'basic', 'json']),
  audit: z.strictObject({
    recentMinutes: z.number().check(z.positive()),
    historyHours: z.number().check(z.positive()),
    requestsPerTick: z.int().check(z.nonnegative()),
  }),
  requestsPerMinute: z.int().check(z.positive()),
  holdAbove: z.int().check(z.nonnegative()),
  /** Minutes. */
  withdrawAfter: z.number().check(z.positive()),
  announce: z.union([z.enum(['none', 'all']), z.strictObject({ since: z.iso.date() })]),
  baseline: z.optional(z.enum(['tick', 'fan-out'])),
  fields: z.union([
    z.enum(['all', 'identifiers']),
    z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
  ]),
});

const timeOfDay = z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/));

const alerts = z.strictObject({
  detail: z.enum(['names', 'counts']),
  maxRows: z.int().check(z.positive()),
  digestEvery: z.optional(z.int().check(z.positive())),
  quietHours: z.optional(z.strictObject({ from: timeOfDay, to: timeOfDay })),
});

/** By the names of the variables. */
const variables = z.object({
  [environment.table]: z.string().check(z.minLength(1)),
  [environment.eventsTopic]: z.string().check(z.minLength(1)),
  [environment.alertsTopic]: z.string().check(z.minLength(1)),
  [environment.operationsTopic]: z.string().check(z.minLength(1)),
  [environment.stack]: z.string().check(z.minLength(1)),
  [environment.secret]: z.string().check(z.minLength(1)),
  [environment.integration]: z.pipe(jsonText, integration),
  [environment.alerts]: z.pipe(jsonText, alerts),
});

const settings = z.pipe(
  variables,
  z.transform((given) => ({
    table: given[environment.table],
    topics: {
      events: given[environment.eventsTopic],
      alerts: given[environment.alertsTopic],
      operations: given[environment.operationsTopic],
    },
    stack: given[environment.stack],
    secret: given[environment.secret],
    integration: given[environment.integration],
    alerts: given[environment.alerts],
  })),
);

export type Settings = z.output<typeof settings>;

/** The same, as a tick has it. */
export function tickSettings({ integration, alerts, stack, secret }: Settings) {
  const { audit, withdrawAfter, ...rest } = integration;
  return {
    ...rest,
    alerts,
    resources: { stack, secret },
    withdrawAfterMs: withdrawAfter * 60_000,
    audit: {
      recentMs: audit.recentMinutes * 60_000,
      historyMs: audit.historyHours * 3_600_000,
      requests: audit.requestsPerTick,
    },
  } satisfies TickSettings;
}

/**
 * What the stack tells the function, parsed once per cold start.
 * @throws SettingsError naming every variable and path that is missing or wrong, and no value.
 */
export function parseSettings(variables: Readonly<Record<string, string | undefined>>): Settings {
  const parsed = settings.safeParse(variables);
  if (!parsed.success)
    throw new SettingsError(
      parsed.error.issues.map(({ path, code }) => `${path.join('.')} (${code})`),
    );
  return parsed.data;
}
