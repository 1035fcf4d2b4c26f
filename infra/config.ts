import * as z from 'zod';
import { assessmentFields } from '../lambda/names.ts';
import { ConfigError, described, looksGenerated, settingAt } from './config-error.ts';
import { combinationsOf, eventChanges, maxCombinations } from './filter.ts';

/**
 * One deployment is one stack, CloudFormation allows a stack 500 resources and an integration takes
 * twelve of them. More integrations: a second deployment with another `stackName`.
 */
export const maxIntegrations = 35;

/** The retention times that CloudWatch Logs knows (PutRetentionPolicy), up to ten years. */
const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288,
  3653,
] as const;

/** A string setting; `allowed` is the end of the sentence "allowed: …". */
const text = (allowed: string, accepts: (value: string) => boolean) =>
  z.string({ error: allowed }).refine(accepts, { error: allowed });

/** A string setting that would carry a credential, pasted by mistake, into the template. */
const name = (allowed: string, accepts: (value: string) => boolean) =>
  text(`${allowed}; never a credential`, (value) => accepts(value) && !looksGenerated(value));

const whole = (what: string, min: number, max: number) => {
  const error = `${what}, a whole number from ${min} to ${max}`;
  // Not `z.int()`: a fraction would keep the checks across settings from running.
  return z
    .number({ error })
    .refine((value) => Number.isSafeInteger(value) && value >= min && value <= max, { error });
};

const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `one of ${values.map((value) => `'${value}'`).join(', ')}` });

const flag = () => z.boolean({ error: 'true or false' });

const list = <T extends z.ZodType>(element: T, allowed: string, max: number) =>
  z.array(element, { error: allowed }).min(1, { error: allowed }).max(max, { error: allowed });

const record = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, { error: `an object with ${Object.keys(shape).join(', ')}` });

const integrationName = name(
  'lower-case letters, digits and single hyphens, starting with a letter, at most 40 characters',
  (value) => value.length <= 40 && /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(value),
);

const fields = `'all', 'identifiers' or a list of at least one of ${assessmentFields.join(', ')}`;

const integration = record({
  name: integrationName,
  baseUrl: text(
    'an https host such as "https://platform.example.org" (http on loopback only), without path, query or credentials',
    isPlatformHost,
  ).transform((value) => new URL(value).origin),
  timeZone: text(
    'the platform\'s IANA time zone, such as "America/Chicago" or "UTC"',
    isIanaTimeZone,
  ),
  every: whole('minutes between two ticks', 1, 60).default(1),
  recentDays: whole('days', 1, 30).default(3),
  tokenRequest: oneOf(['form', 'basic', 'json']).default('form'),
  audit: record({
    recentMinutes: whole('minutes within which every recent day is read again', 1, 1_440).default(
      15,
    ),
    historyHours: whole('hours within which every other day is read again', 1, 8_760).default(24),
    requestsPerTick: whole('requests that the audits of one tick may make', 1, 1_000).default(20),
  }).prefault({}),
  holdAbove: whole('events of one tick above which they are held', 0, 1_000_000).default(500),
  announce: z
    .union(
      [
        oneOf(['none', 'all']),
        record({
          since: text('a day, YYYY-MM-DD', (value) => z.iso.date().safeParse(value).success),
        }),
      ],
      { error: `'none', 'all' or an object with since: a day, YYYY-MM-DD` },
    )
    .default('none'),
  fields: z
    .union(
      [
        oneOf(['all', 'identifiers']),
        list(oneOf(assessmentFields), fields, assessmentFields.length),
      ],
      { error: fields },
    )
    .default('all'),
  secretName: name('the name (not the ARN) of a secret in this account and region', (value) =>
    /^[\w/+=.@-]{1,512}$/.test(value),
  ).optional(),
});

const filter = record({
  types: list(oneOf(eventChanges), 'at least one kind of change', eventChanges.length).optional(),
  organizations: list(
    whole('organization ids', 1, Number.MAX_SAFE_INTEGER),
    'at least one organization id',
    maxCombinations,
  ).optional(),
  assessments: list(
    name('an assessment name, exactly as the platform shows it', (value) => value.trim() !== ''),
    'at least one assessment name',
    maxCombinations,
  ).optional(),
  integrations: list(integrationName, 'at least one integration name', maxIntegrations).optional(),
  late: flag().optional(),
}).superRefine(
  (value, problems) => {
    if (combinationsOf(value) > maxCombinations)
      problems.addIssue({
        code: 'custom',
        message: `at most ${maxCombinations} combinations (SNS multiplies the numbers of values)`,
      });
  },
  { when: () => true },
);

const endpoints = {
  email: { allowed: 'an e-mail address', pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ },
  'email-json': { allowed: 'an e-mail address', pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ },
  https: { allowed: 'an https URL', pattern: /^https:\/\/[^\s/@]+(\/\S*)?$/ },
  sqs: {
    allowed: 'the ARN of a standard queue (a FIFO queue cannot subscribe to a standard topic)',
    pattern: /^arn:aws[\w-]*:sqs:[a-z0-9-]+:\d{12}:[\w-]+$/,
  },
  lambda: {
    allowed: 'the ARN of a function',
    pattern: /^arn:aws[\w-]*:lambda:[a-z0-9-]+:\d{12}:function:[\w:-]+$/,
  },
} as const;

const subscription = record({
  topic: oneOf(['events', 'alerts', 'operations']),
  protocol: oneOf(['email', 'email-json', 'https', 'sqs', 'lambda']),
  endpoint: z.string({ error: 'an address that fits the protocol' }),
  filter: filter.optional(),
}).superRefine(
  (value, problems) => {
    const expected = endpoints[value.protocol];
    if (expected && typeof value.endpoint === 'string' && !expected.pattern.test(value.endpoint))
      problems.addIssue({ code: 'custom', path: ['endpoint'], message: expected.allowed });
    if (value.filter !== undefined && value.topic !== 'events')
      problems.addIssue({
        code: 'custom',
        path: ['filter'],
        message: "none: only messages of the topic 'events' carry what a filter looks at",
      });
  },
  { when: ({ value }) => typeof value === 'object' && value !== null },
);

const timeOfDay = () =>
  text('a time of day, HH:MM from 00:00 to 23:59', (value) =>
    /^([01]\d|2[0-3]):[0-5]\d$/.test(value),
  );

const alerts = record({
  detail: oneOf(['names', 'counts']).default('names'),
  maxRows: whole('rows of one digest', 1, 1_000).default(60),
  digestEvery: whole('minutes that one digest collects', 1, 1_440).optional(),
  quietHours: record({ from: timeOfDay(), to: timeOfDay() })
    .refine(({ from, to }) => from !== to, { error: 'two different times of day' })
    .optional(),
});

const address = z.object({ topic: z.string(), protocol: z.string(), endpoint: z.string() });

/** Tells subscriptions apart; nothing for one that is not even shaped like one. */
function addressOf(subscription: unknown): string | undefined {
  const { data } = address.safeParse(subscription);
  return data && [data.topic, data.protocol, data.endpoint].join(' ');
}

const config = record({
  stackName: name(
    'letters, digits and hyphens, starting with a letter, at most 128 characters',
    (value) => /^[A-Za-z][A-Za-z0-9-]{0,127}$/.test(value),
  ).default('certification-notifier'),
  integrations: list(integration, `1 to ${maxIntegrations} integrations`, maxIntegrations),
  subscriptions: z
    .array(subscription, { error: 'a list of subscriptions' })
    .superRefine(
      (subscriptions, problems) => {
        const addresses = subscriptions.map(addressOf);
        addresses.forEach((address, index) => {
          if (address && addresses.indexOf(address) < index)
            problems.addIssue({
              code: 'custom',
              path: [index],
              message: 'a topic and endpoint not yet subscribed (SNS keeps one filter for each)',
            });
        });
      },
      { when: ({ value }) => Array.isArray(value) },
    )
    .default(() => []),
  topic: oneOf(['standard', 'fifo']).default('standard'),
  alerts: alerts.prefault({}),
  subscriberAccounts: z
    .array(
      text('an AWS account id of 12 digits', (value) => /^\d{12}$/.test(value)),
      { error: 'a list of AWS account ids' },
    )
    .default(() => []),
  logRetentionDays: z
    .literal(retentionDays, { error: `one of ${retentionDays.join(', ')}` })
    .default(30),
  terminationProtection: flag().default(true),
  tags: z
    .record(
      name('a tag key of at most 128 characters that does not start with "aws:"', (value) =>
        /^(?!aws:)[\p{L}\p{N} _.:/=+@-]{1,128}$/iu.test(value),
      ),
      text('a tag value of at most 256 characters', (value) =>
        /^[\p{L}\p{N} _.:/=+@-]{0,256}$/u.test(value),
      ),
      { error: 'an object of tag keys and values' },
    )
    .default(() => ({})),
}).superRefine(
  (value, problems) => {
    const names = namesIn(value);
    names.forEach((name, index) => {
      // CloudFormation's logical ids have no hyphens: `a-1` and `a1` would be one output.
      if (name && names.findIndex((other) => bare(other) === bare(name)) < index)
        problems.addIssue({
          code: 'custom',
          path: ['integrations', index, 'name'],
          message: 'a name that no other integration has (hyphens do not count)',
        });
    });
    filteredNamesIn(value).forEach(({ path, name }) => {
      if (name && !names.includes(name))
        problems.addIssue({
          code: 'custom',
          path,
          message: `the name of a configured integration (${names.map(described).join(', ')})`,
        });
    });
  },
  { when: () => true },
);

/** What ops write. */
export type NotifierConfigInput = z.input<typeof config>;
/** What the stack is built from: checked, defaults filled in, `baseUrl` reduced to its origin. */
export type NotifierConfig = z.output<typeof config>;
export type IntegrationConfig = NotifierConfig['integrations'][number];
export type AlertsConfig = NotifierConfig['alerts'];
export type SubscriptionConfig = NotifierConfig['subscriptions'][number];

/** Gives `notifier.config.ts` types and completion; checks nothing. */
export function defineConfig(input: NotifierConfigInput): NotifierConfigInput {
  return input;
}

/**
 * @param source what the error's message calls the configuration, such as its file
 * @throws ConfigError naming every problem: where, what was found, what is allowed.
 */
export function parseConfig(input: unknown, source?: string): NotifierConfig {
  const result = config.safeParse(input);
  if (result.success) return result.data;
  throw new ConfigError(
    result.error.issues.flatMap((issue) => problemsOf(issue, input)),
    source,
  );
}

/** What is wrong with one setting of an integration: "… found; allowed: …". Undefined: nothing. */
export function problemWith(setting: 'baseUrl' | 'timeZone', value: unknown): string | undefined {
  const [issue] = integration.shape[setting].safeParse(value).error?.issues ?? [];
  return issue && `${described(value)} found; allowed: ${issue.message}`;
}

function problemsOf(issue: z.core.$ZodIssue, input: unknown): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(
      (key) => `${settingAt([...issue.path, key])}: unknown setting; allowed: ${issue.message}`,
    );
  if (issue.code === 'invalid_key')
    return issue.issues.map(
      ({ message }) => `${settingAt(issue.path)}: not usable as a name; allowed: ${message}`,
    );
  const where = settingAt(issue.path) || 'the configuration';
  return [`${where}: ${described(valueAt(input, issue.path))} found; allowed: ${issue.message}`];
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined,
    input,
  );
}

const bare = (name: string) => name.replaceAll('-', '');

// The checks across settings run even when other settings are wrong, so that one run tells all.
// They read only what they need and pass over what has another shape.
const nameOrNothing = z.string().catch('');
const named = z
  .looseObject({
    integrations: z.array(z.looseObject({ name: nameOrNothing }).catch({ name: '' })),
  })
  .catch({ integrations: [] });
const filtered = z
  .looseObject({
    subscriptions: z.array(
      z
        .looseObject({ filter: z.looseObject({ integrations: z.array(nameOrNothing) }) })
        .catch({ filter: { integrations: [] } }),
    ),
  })
  .catch({ subscriptions: [] });

function namesIn(value: unknown): string[] {
  return named.parse(value).integrations.map(({ name }) => name);
}

function filteredNamesIn(value: unknown) {
  return filtered.parse(value).subscriptions.flatMap(({ filter: { integrations } }, subscriber) =>
    integrations.map((name, index) => ({
      path: ['subscriptions', subscriber, 'filter', 'integrations', index],
      name,
    })),
  );
}

function isPlatformHost(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  const onLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  return (
    (url.protocol === 'https:' || (url.protocol === 'http:' && onLoopback)) &&
    url.href === `${url.origin}/` &&
    !/[?#@]/.test(value)
  );
}

function isIanaTimeZone(value: string): boolean {
  // Intl also accepts offsets such as "+05:00"; a platform's days follow a zone, summer time included.
  if (!/^[A-Za-z]/.test(value)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
