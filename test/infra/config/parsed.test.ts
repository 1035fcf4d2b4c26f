import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { defaultClaim } from '../../../consumer/handling.ts';
import { assessmentFields } from '../../../infra/config/assessment-fields.ts';
import { parseConfig } from '../../../infra/config.ts';
import { assessmentSchema } from '../../../lambda/events/assessment.ts';
import { archive, bus, queue, slack, subscribed, teams, withDistrict } from './settings.ts';

const newQueue = { ...queue, endpoint: { newQueue: 'payroll' } };
const secondTopic = {
  ...{ ...teams, topic: 'alerts', channel: '19%3aab1c2d%40Thread.TACv2' },
  ...{ tenant: teams.tenant.toUpperCase(), team: teams.team.toUpperCase() },
};

// Its defaults are in docs/configuration.md, which is generated, and in approved/smallest.yaml.
// A stack is built from the parsed configuration, which its construct parses once more.
it('a configuration is parsed again without a change', () => {
  const config = subscribed({ ...bus, filter: { late: true } }, archive, slack, newQueue, teams);
  const alerts = { digestEvery: 30, quietHours: { from: '20:00', to: '06:30' } };
  const parsed = parseConfig({ ...config, topic: 'fifo', alerts });
  expect(parsed.alerts).toMatchObject(alerts);
  expect(parseConfig(parsed)).toEqual(parsed);
});

it('the host of a partner is kept without a path, and the IDs of Teams in one spelling', () => {
  const baseUrl = 'https://partner.example.org/';
  expect(parseConfig(withDistrict({ baseUrl })).integrations).toMatchObject([
    { baseUrl: 'https://partner.example.org' },
  ]);
  const { subscriptions } = parseConfig(subscribed(teams, secondTopic));
  expect(subscriptions).toEqual([teams, { ...teams, topic: 'alerts' }]);
});

it('the fields of a configuration are those of an assessment in events', () => {
  expect([...assessmentFields]).toEqual(Object.keys(assessmentSchema.shape));
});

it('a new queue lets its messages outlive the claim of a dead worker, unless it is told otherwise', () => {
  const [made] = parseConfig(subscribed(newQueue)).subscriptions.map((one) => Object(one).endpoint);
  const claim = Temporal.Duration.from(defaultClaim).total('seconds');
  // The last receive comes after the end of the claim, with a minute for a batch.
  expect(made.visibilityTimeout * (made.attempts - 1)).toBeGreaterThanOrEqual(claim + 60);
});
