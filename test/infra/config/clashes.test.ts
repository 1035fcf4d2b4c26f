import { expect, it } from 'vitest';
import {
  addresses,
  archive,
  bus,
  district,
  expectOneLine,
  keyArn,
  pagerTopicArn,
  problemsOf,
  queue,
  slack,
  subscribed,
  teams,
  times,
  withDistrict,
  withQueue,
} from './settings.ts';

const fifo = (config: object) => ({ ...config, topic: 'fifo' });
const by = (protocol: keyof typeof addresses) => ({
  ...{ topic: 'events', protocol, endpoint: addresses[protocol] },
});
const onAlerts = { ...queue, topic: 'alerts' };
/** ARNs of roles, with paths of some length. */
const roles = (count: number, length: number) =>
  times(count, (index) => `arn:aws:iam::111122223333:role/${'p'.repeat(length)}/${index}`);
const districts = (...settings: object[]) => ({
  integrations: settings.map((one) => ({ ...district, ...one })),
});
const fifoQueue = `${queue.endpoint}.fifo`;
const toFifo = "'sqs', 'event-bus' or 'archive': a FIFO topic delivers to queues only";

it.each<[config: object, found: string, allowed: string]>([
  [
    withDistrict({ every: 10, audit: { recentMinutes: 5 } }),
    'integrations[0].audit.recentMinutes: 5 found',
    'at least `every` (10)',
  ],
  [withDistrict({ secretKeyArn: keyArn }), 'integrations[0].secretKeyArn:', 'existing secret'],
  [
    districts({ name: 'a', secretName: 'partner' }, { name: 'b', secretName: 'partner' }),
    'integrations[1].secretName: "partner" found',
    'no other integration with this baseUrl',
  ],
  [
    districts({}, { name: 'districta' }),
    'integrations[1].name: "districta" found',
    'a name that no other integration has (hyphens do not count)',
  ],
  [
    { ...districts({ every: 10 }, { name: 'b', every: 15 }), alerts: { digestEvery: 5 } },
    'alerts.digestEvery: 5 found',
    'at least the shortest `every` (10)',
  ],
  [
    { ...withDistrict({}), keyArn, pagerTopicArn: pagerTopicArn.replace('us-east-1', 'eu-west-1') },
    'pagerTopicArn: "arn:aws:sns:eu-west-1:111122223333:pager" found',
    'an ARN of "us-east-1", as keyArn is',
  ],
  [
    { ...withQueue({ endpoint: 'arn:aws-us-gov:sqs:us-gov-a-1:111122223333:a' }), pagerTopicArn },
    'subscriptions[0].endpoint: "arn:aws-us-gov:sqs:us-gov-a-1:111122223333:a" found',
    'an ARN of the partition "aws", as pagerTopicArn is',
  ],
])('the combination %j is refused in one line: %s; allowed: %s', expectOneLine);

const filter = { late: true };
const unknown = { integrations: ['z'] };
const onlyAlerts = { ...teams, topic: 'alerts' };
const newQueue = (name: string, settings: object = {}) => ({
  ...{ ...queue, endpoint: { newQueue: name, ...settings } },
});
const otherTeam = { ...teams, tenant: '2d5c3e74-8a2a-4f2e-9c6d-3f4a51627384' };
const ofTeam = 'the tenant of subscriptions[0]: a team belongs to one tenant';
const notYet = 'a channel that this topic does not have yet';

it.each<[subscriptions: object[], found: string, allowed: string]>([
  [[{ ...queue, filter: unknown }], '[0].filter.integrations[0]: "z"', '"district-a"'],
  [[{ ...queue, endpoint: fifoQueue }], '[0].endpoint:', 'a FIFO queue cannot'],
  [[by('email-json')], '[0].topic: "events" found', "'alerts', whose digests are for people; or"],
  [
    [newQueue('pay-roll'), { ...newQueue('payroll'), topic: 'alerts' }],
    '[1].endpoint.newQueue: "payroll" found',
    'no other new queue has',
  ],
  [[queue, { ...queue, filter }, onAlerts], '[1]: an object found', 'not yet subscribed'],
  [[{ ...bus, filter }, bus], '[1].bus: "default" found', 'a bus that no other subscription has'],
  [[archive, { ...archive, filter }], '[1].protocol: "archive" found', 'one archive in a stack'],
  [[slack, { ...slack, topic: 'operations' }, slack], '[2].channel: "C0123ABCD" found', notYet],
  [[teams, { ...teams, channel: '19%3aab1c2d%40Thread.TACv2' }], '[1].channel:', notYet],
  [[teams, { ...otherTeam, topic: 'alerts' }], '[1].tenant:', ofTeam],
  [[teams, { ...otherTeam, channel: '19%3Az%40thread.tacv2' }], '[1].tenant:', ofTeam],
  [[{ ...teams, tenant: 'a.org' }, onlyAlerts], '[0].tenant:', 'a UUID'],
  [
    times(118, (index) => ({ ...onAlerts, endpoint: `${queue.endpoint}-${index}` })),
    ': a list of 118 found',
    '510 resources, and CloudFormation takes 500',
  ],
  [
    [newQueue('payroll', { readers: roles(49, 10) })],
    '[0].endpoint.readers: a list of 49 found',
    'at most 48',
  ],
  [
    [newQueue('payroll', { readers: roles(40, 200) })],
    '[0].endpoint.readers: a list of 40 found',
    'fewer: with so many long ARNs, the queue',
  ],
  [
    times(10, (index) => newQueue(`queue-${index}`, { readers: roles(40, 50) })),
    ': a list of 10 found',
    'fewer readers of new queues',
  ],
  [
    times(39, (index) => newQueue(`queue-${index}`)),
    ': a list of 39 found',
    'fewer queues for events than 39',
  ],
])('the subscriptions %j are refused in one line: %s; allowed: %s', (list, found, allowed) => {
  expectOneLine(subscribed(...list), `subscriptions${found}`, allowed);
});

it.each<[subscription: object, found: string, allowed: string]>([
  [{ ...onAlerts, endpoint: fifoQueue }, 'endpoint:', 'a FIFO queue cannot'],
  [by('https'), 'protocol: "https"', `${toFifo} (a queue can feed`],
  [by('lambda'), 'protocol: "lambda"', `${toFifo} (a queue can feed`],
  [by('email'), 'protocol: "email"', `${toFifo} (mail gets`],
  [{ ...by('email-json'), mailPerEvent: true }, 'protocol: "email-json"', `${toFifo} (mail gets`],
])('beside a FIFO topic, %j is refused in one line: %s; allowed: %s', (one, found, allowed) => {
  expectOneLine(fifo(subscribed(one)), `subscriptions[0].${found}`, allowed);
});

it.each([
  fifo(subscribed({ ...by('email'), topic: 'alerts' }, { ...by('https'), topic: 'alerts' })),
  districts({ secretName: 'a' }, { name: 'b', baseUrl: 'https://b.org', secretName: 'a' }),
  withDistrict({ every: 60, announce: { since: '2019-11-01' } }),
  subscribed({ ...by('email'), mailPerEvent: true }),
  { ...withQueue({ endpoint: 'arn:aws:sqs:eu-west-1:111122223333:payroll' }), keyArn },
  subscribed(slack, { ...slack, channel: 'G0123ABCD' }, { ...slack, workspace: 'T0123ABCE' }),
  subscribed(slack, { ...slack, topic: 'operations' }),
  subscribed(teams, { ...teams, channel: teams.channel.replace('ab1c2d', 'AB1c2d') }),
])('the combination %j is valid', (config) => {
  expect(problemsOf(config)).toEqual([]);
});

it('several problems are named at once, and those between settings that are right', () => {
  const problems = problemsOf({
    integrations: [district, district],
    subscriptions: [{ ...queue, topic: 'news', raw: 1 }, slack],
    alerts: { maxRows: 0.5, colour: 'red' },
  });
  expect(problems.map((problem) => problem.split(': ')[0]).toSorted()).toEqual([
    ...['alerts.colour', 'alerts.maxRows', 'integrations[1].name'],
    ...['subscriptions[0].raw', 'subscriptions[0].topic'],
  ]);
});
