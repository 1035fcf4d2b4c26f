import * as z from 'zod/mini';
import { putBack } from './condition-table.ts';
import { errorOf } from './errors.ts';
import { jsonText } from './json-text.ts';
import { environment } from './names.ts';

/** The function was deployed with an environment that it cannot work with. */
export class SettingsError extends errorOf('settings-invalid', 'ops') {
  readonly whatToDo = `The environment was edited. ${putBack}`;

  constructor(problems: readonly string[]) {
    super(`The environment is not usable: ${problems.join('; ')}.`);
  }
}

const integration = z.strictObject({
  name: z.string().check(z.minLength(1)),
  baseUrl: z.url(),
  /** IANA name of the partner's time zone. */
  timeZone: z.string().check(z.minLength(1)),
  /** Days before today that belong to the recent window. */
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
  /** More changes of a kind than this within an hour, or edits within one round of the audits, are held for ops to release. */
  holdAbove: z.int().check(z.nonnegative()),
  /** A certification is withdrawn when a read that began so many minutes after it was missed first lacks it, too. */
  withdrawAfter: z.number().check(z.positive()),
  /** After more days than this without a certification operations are asked; `false`: never. Absent: the calendar says. */
  silence: z.optional(z.union([z.int().check(z.positive()), z.literal(false)])),
  /** What the baseline announces: nothing, what was completed on a day or later, or everything. */
  announce: z.union([z.enum(['none', 'all']), z.strictObject({ since: z.iso.date() })]),
  /** Who reads what is dated before the baseline's start day: the ticks, or tasks beside them. */
  baseline: z.optional(z.enum(['tick', 'fan-out'])),
  /** What of an assessment an event carries; the identifiers always. */
  fields: z.union([
    z.enum(['all', 'identifiers']),
    z.readonly(z.array(z.string().check(z.minLength(1))).check(z.minLength(1))),
  ]),
});

const timeOfDay = z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/));

/** How people are told. */
const alerts = z.strictObject({
  /** Whether a digest names people, or only counts them by organization and assessment. */
  detail: z.enum(['names', 'counts']),
  /** Rows of each section of a digest; the rest is counted. */
  maxRows: z.int().check(z.positive()),
  /** Minutes that one digest collects; absent: every tick has its own. */
  digestEvery: z.optional(z.int().check(z.positive())),
  /** Between which no digest is sent, in the integration's time zone; across midnight if `to` is earlier. */
  quietHours: z.optional(z.strictObject({ from: timeOfDay, to: timeOfDay })),
  /** Whom readers may ask. */
  contact: z.optional(z.string().check(z.minLength(1))),
});

const text = z.string().check(z.minLength(1));

/** By the names of the variables. */
const settings = z.object({
  [environment.table]: text,
  [environment.eventsTopic]: text,
  [environment.alertsTopic]: text,
  [environment.operationsTopic]: text,
  [environment.chatAlertsTopic]: z.optional(text),
  [environment.chatOperationsTopic]: z.optional(text),
  [environment.stack]: text,
  [environment.secret]: text,
  [environment.integration]: z.pipe(jsonText, integration),
  [environment.alerts]: z.pipe(jsonText, alerts),
});

export type Settings = z.output<typeof settings>;

/** Durations are in milliseconds. */
export type TickSettings = Readonly<ReturnType<typeof tickSettings>>;

/** As ticks and commands have them. */
export function tickSettings(settings: Settings) {
  const { audit, withdrawAfter, ...rest } = settings[environment.integration];
  return {
    ...rest,
    alerts: settings[environment.alerts],
    stack: settings[environment.stack],
    withdrawAfterMs: withdrawAfter * 60_000,
    /** Within which every day of the recent window is read again, and every other day; what audits of one tick may ask. */
    audit: {
      recentMs: audit.recentMinutes * 60_000,
      historyMs: audit.historyHours * 3_600_000,
      requests: audit.requestsPerTick,
    },
  };
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
