import type * as z from 'zod';
import { refuseClashes } from './config/clashes.ts';
import { deployment } from './config/deployment.ts';
import type { NotifierConfigInput } from './config/input.ts';
import { integration } from './config/integration.ts';
import { type NotifierSettings, notifier } from './config/notifier.ts';
import { anyObject } from './config/words.ts';
import { ConfigError, describedValue, settingAt } from './config-error.ts';

/** The settings of the stack: checked, with defaults, and with `baseUrl` reduced to its origin. */
export type NotifierConfig = z.output<typeof deployment>;
export type IntegrationConfig = NotifierConfig['integrations'][number];
/** The settings of one integration in the constructs; its secret may be a construct of the app. */
export type IntegrationSettings = NotifierSettings['integrations'][number];
export type AlertsConfig = NotifierConfig['alerts'];
export type { NotifierConfigInput } from './config/input.ts';
/** A subscription, as people write it. */
export type SubscriptionSettingsInput = NonNullable<NotifierConfigInput['subscriptions']>[number];
/** The settings of a notifier in a foreign stack. */
export type { NotifierSettings } from './config/notifier.ts';
export type {
  AddressedConfig,
  ArchiveConfig,
  ChatConfig,
  EventBusConfig,
  NewQueueConfig,
  SubscriptionConfig,
} from './config/subscription.ts';

/** Gives `notifier.config.ts` types and completion; checks nothing. */
export function defineConfig(input: NotifierConfigInput): NotifierConfigInput {
  return input;
}

/**
 * @param source the name of the configuration in the error's message, such as its file
 * @throws ConfigError naming every problem: the setting, the value that was found, the allowed ones
 */
export function parseConfig(input: unknown, source?: string): NotifierConfig {
  return parsed(deployment.superRefine(refuseClashes, anyObject), input, source);
}

/** The same for a notifier in a foreign stack. @throws ConfigError */
export function parseSettings(input: unknown, source: string): NotifierSettings {
  return parsed(notifier.superRefine(refuseClashes, anyObject), input, source);
}

function parsed<T>(schema: z.ZodType<T>, input: unknown, source?: string): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new ConfigError(
    result.error.issues.flatMap((issue) => problemsOf(issue, input)),
    source,
  );
}

/** The problem with one setting of an integration: "… found; allowed: …". Undefined: there is none. */
export function problemWith(setting: 'baseUrl' | 'timeZone', value: unknown): string | undefined {
  const [issue] = integration.shape[setting].safeParse(value).error?.issues ?? [];
  return issue && `${describedValue(value)} found; allowed: ${issue.message}`;
}

/** One line for each problem: its setting, the value that was found, and the allowed values. */
function problemsOf(issue: z.core.$ZodIssue, input: unknown): string[] {
  const { path } = issue;
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map(
        (key) => `${settingAt([...path, key])}: unknown setting; allowed: ${issue.message}`,
      );
    case 'invalid_key':
      return issue.issues.map(
        ({ message }) => `${settingAt(path)}: not usable as a name; allowed: ${message}`,
      );
    case 'invalid_union': {
      const within = branchMeant(issue.errors);
      if (within.length > 0)
        return within.flatMap((inner) =>
          problemsOf({ ...inner, path: [...path, ...inner.path] }, input),
        );
    }
  }
  const where = settingAt(path) || 'the configuration';
  return [`${where}: ${describedValue(valueAt(input, path))} found; allowed: ${issue.message}`];
}

/** The problems of the only alternative whose form is right; none if there are several. */
function branchMeant(alternatives: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] {
  const [meant = [], ...others] = alternatives.filter((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  return others.length === 0 ? meant : [];
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined,
    input,
  );
}
