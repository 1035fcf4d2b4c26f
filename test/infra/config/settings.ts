import { expect } from 'vitest';
import { parseConfig } from '../../../infra/config.ts';
import { ConfigError } from '../../../infra/config-error.ts';

export const district = {
  name: 'district-a',
  baseUrl: 'https://partner.example.org',
  timeZone: 'America/Chicago',
};
export const queue = {
  topic: 'events',
  protocol: 'sqs',
  endpoint: 'arn:aws:sqs:us-east-1:111122223333:certifications',
};
export const addresses = {
  email: 'office@district-a.example.org',
  'email-json': 'office@district-a.example.org',
  https: 'https://hook.example.org/x',
  lambda: 'arn:aws:lambda:us-east-1:111122223333:function:certifications',
};
export const bus = { topic: 'events', protocol: 'event-bus', bus: 'default' };
export const archive = { topic: 'events', protocol: 'archive' };
export const slack = {
  topic: 'alerts',
  protocol: 'slack',
  workspace: 'T0123ABCD',
  channel: 'C0123ABCD',
};
export const teams = {
  topic: 'operations',
  protocol: 'teams',
  tenant: '0b3a1c52-6f0e-4d0c-9a4b-1d2e3f405162',
  team: '1c4b2d63-7f1f-4e1d-8b5c-2e3f40516273',
  channel: '19%3Aab1c2d%40thread.tacv2',
};
export const keyArn = `arn:aws:kms:us-east-1:111122223333:key/mrk-${'0'.repeat(32)}`;
export const pagerTopicArn = 'arn:aws:sns:us-east-1:111122223333:pager';

export const withDistrict = (settings: object) => ({
  integrations: [{ ...district, ...settings }],
});
export const subscribed = (...subscriptions: object[]) => ({
  integrations: [district],
  subscriptions,
});
export const withQueue = (settings: object) => subscribed({ ...queue, ...settings });
export const withFilter = (filter: unknown) => withQueue({ filter });

/** A list of the values of a function for 0, 1, 2 and so on. */
export const times = <T>(length: number, of: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => of(index));

/** A configuration with another value of the setting at a path such as `integrations[0].every`. */
export function changed(config: object, path: string, value: unknown): object {
  const copy = structuredClone(config);
  const keys = path.match(/[^.[\]]+/g) ?? [];
  const last = keys.pop() ?? '';
  const place = keys.reduce<object>((inner, key) => Object(Reflect.get(inner, key)), copy);
  Reflect.set(place, last, value);
  return copy;
}

/** One line for each problem of a configuration. */
export const problemsOf = (input: unknown) => refusals(() => parseConfig(input));

/** One line for each refusal. */
export function refusals(act: () => unknown): readonly string[] {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** The only problem of a configuration is one line, which has these parts. */
export function expectOneLine(input: unknown, ...parts: readonly string[]): void {
  const problems = problemsOf(input);
  expect(problems).toHaveLength(1);
  for (const part of parts) expect(problems[0]).toContain(part);
  expect(problems[0]).not.toContain('\n');
}
