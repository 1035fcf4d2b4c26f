import * as z from 'zod/mini';
import { putBack } from './condition-table.ts';
import { errorOf } from './errors.ts';
import { jsonText } from './json-text.ts';
import { environment } from './names.ts';

/** The function's environment cannot be used. */
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
  /**
   * A certification is withdrawn when a read that began this many minutes after the first look
   * lacks it, too.
   */
  withdrawAfter: z.number().check(z.positive()),
  /**
   * Ops are asked after more days than this without a certification; `false`: never. Absent: the
   * calendar decides.
   */
  silence: z.optional(z.union([z.int().check(z.positive()), z.literal(false)])),
  /**
   * The certifications that the baseline announces: none, those completed on a day or later, or
   * all.
   */
  announce: z.union([z.enum(['none', 'all']), z.strictObject({ since: z.iso.date() })]),
  /** Ranges of days that a tick reads at the same time while it reads the baseline. */
  baseline: z.strictObject({ atOnce: z.int().check(z.positive()) }),
  /** The fields of an assessment in an event, besides the identifiers. */
  fields: z.union([
    z.enum(['all', 'identifiers']),
    z.readonly(z.array(z.string().check(z.minLength(1))).check(z.minLength(1))),
  ]),
});

const timeOfDay = z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/));

/** The settings of digests. */
const alerts = z.strictObject({
  /** Whether a digest names people, or only counts them by organization and assessment. */
  detail: z.enum(['names', 'counts']),
  /** Rows of each section of a digest; the rest is counted. */
  maxRows: z.int().check(z.positive()),
  /** Minutes that one digest collects; absent: every tick has its own. */
  digestEvery: z.optional(z.int().check(z.positive())),
  /**
   * No digest is sent between these times, in the integration's time zone; across midnight if `to`
   * is earlier.
   */
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

/** The settings of ticks and commands. */
export function tickSettings(settings: Settings) {
  const { audit, withdrawAfter, ...rest } = settings[environment.integration];
  return {
    ...rest,
    alerts: settings[environment.alerts],
    stack: settings[environment.stack],
    withdrawAfterMs: withdrawAfter * 60_000,
    /**
     * The times within which every day of the recent window, and every other day, is read again;
     * and the requests of one tick's audits.
     */
    audit: {
      recentMs: audit.recentMinutes * 60_000,
      historyMs: audit.historyHours * 3_600_000,
      requests: audit.requestsPerTick,
    },
  };
}

/**
 * Parses the environment that the stack sets, once per cold start.
 *
 * @throws SettingsError naming every variable and path that is missing or wrong, and no value
 */
export function parseFunctionSettings(
  variables: Readonly<Record<string, string | undefined>>,
): Settings {
  const parsed = settings.safeParse(variables);
  if (!parsed.success)
    throw new SettingsError(
      parsed.error.issues.map(({ path, code }) => `${path.join('.')} (${code})`),
    );
  return parsed.data;
}
