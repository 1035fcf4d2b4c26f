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

export const withDistrict = (settings: object) => ({
  integrations: [{ ...district, ...settings }],
});
export const withQueue = (settings: object) => ({
  integrations: [district],
  subscriptions: [{ ...queue, ...settings }],
});
export const withFilter = (filter: unknown) => withQueue({ filter });

/** One line for each problem of a configuration. */
export function problemsOf(input: unknown): readonly string[] {
  try {
    parseConfig(input);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** The mistake in a few words, a configuration with it, its place and value, and the allowed values. */
export type Refusal = [what: string, input: unknown, found: string, allowed: string];

export function expectOneLine(input: unknown, found: string, allowed: string): void {
  const problems = problemsOf(input);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(found);
  expect(problems[0]).toContain(allowed);
  expect(problems[0]).not.toContain('\n');
}
