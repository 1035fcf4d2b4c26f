import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../infra/config.ts';
import { addresses, district, expectOneLine, problemsOf, type Refusal } from './settings.ts';

const withOne = (...subscriptions: object[]) => ({ integrations: [district], subscriptions });
const bus = (settings: object = {}) => ({
  topic: 'events',
  protocol: 'event-bus',
  bus: 'default',
  ...settings,
});

describe('a destination that SNS does not know', () => {
  it.each(['default', 'certifications', 'a.b_c-1', 'x'.repeat(256)])('may be a bus: %s', (name) => {
    expect(problemsOf(withOne(bus({ bus: name })))).toEqual([]);
  });

  it('may have a filter, and may follow a FIFO topic', () => {
    const filter = { types: ['created'] };
    expect(problemsOf({ ...withOne(bus({ filter })), topic: 'fifo' })).toEqual([]);
  });

  it.each([
    [slack(), slack({ topic: 'operations' })],
    [teams(), teams({ topic: 'alerts' })],
    [slack(), slack({ channel: 'G0123ABCD' }), slack({ workspace: 'T0123ABCE' })],
  ])('may be channels of a chat, also one for both topics', (...subscriptions) => {
    const config = { ...withOne(...subscriptions), topic: 'fifo' };
    expect(problemsOf(config)).toEqual([]);
    expect(parseConfig(parseConfig(config)).subscriptions).toEqual(subscriptions);
  });

  it('is one channel of Teams in any spelling, except of the middle of its ID', () => {
    const config = withOne(teams(), teams({ topic: 'alerts', ...otherSpelling }));
    expect(parseConfig(config).subscriptions).toEqual([teams(), teams({ topic: 'alerts' })]);
    const other = teams({ channel: teams().channel.replace('ab1c2d', 'AB1c2d') });
    expect(problemsOf(withOne(teams(), other))).toEqual([]);
  });

  it('has at least 25 wrong configurations here', () => {
    expect(refusals.length).toBeGreaterThanOrEqual(25);
  });

  it('may be an archive, with a retention of two years by default', () => {
    const { subscriptions } = parseConfig(withOne(archive()));
    expect(subscriptions).toEqual([{ topic: 'events', protocol: 'archive', keepDays: 731 }]);
    const parsed = parseConfig({ ...withOne(archive({ keepDays: 1 })), topic: 'fifo' });
    expect(parseConfig(parsed)).toEqual(parsed);
  });

  it('is parsed again without a change: a stack is built from the parsed configuration', () => {
    const config = parseConfig(withOne(bus({ filter: { late: true } })));
    expect(parseConfig(config)).toEqual(config);
  });
});

const archive = (settings: object = {}) => ({
  topic: 'events',
  protocol: 'archive',
  ...settings,
});

const slack = (settings: object = {}) => ({
  topic: 'alerts',
  protocol: 'slack',
  workspace: 'T0123ABCD',
  channel: 'C0123ABCD',
  ...settings,
});
const teams = (settings: object = {}) => ({
  topic: 'operations',
  protocol: 'teams',
  tenant: '0b3a1c52-6f0e-4d0c-9a4b-1d2e3f405162',
  team: '1c4b2d63-7f1f-4e1d-8b5c-2e3f40516273',
  channel: '19%3Aab1c2d%40thread.tacv2',
  ...settings,
});

const otherTenant = '2d5c3e74-8a2a-4f2e-9c6d-3f4a51627384';

const otherSpelling = {
  tenant: teams().tenant.toUpperCase(),
  team: teams().team.toUpperCase(),
  channel: '19%3aab1c2d%40Thread.TACv2',
};
const slackChannel = "the ID of a Slack channel, such as 'C0123ABCD' (not its name)";
const teamsChannel =
  "the ID of a Teams channel, encoded as in the link to the channel: the part between /channel/ and the next /, such as '19%3A…%40thread.tacv2'";

/** One line each. */
const refusals: readonly Refusal[] = [
  [
    'a bus without a name',
    withOne(bus({ bus: undefined })),
    'subscriptions[0].bus: nothing found',
    "'default' or the name of an event bus",
  ],
  ...[
    'arn:aws:events:us-east-1:444455556666:event-bus/certifications',
    'arn:aws:events:eu-west-1:111122223333:event-bus/default',
  ].map(
    (name): Refusal => [
      'a bus that a pipe does not reach, with the way to do it',
      withOne(bus({ bus: name })),
      'subscriptions[0].bus:',
      'a pipe reaches no other: let a rule on that bus pass the events on',
    ],
  ),
  [
    "a partner's bus",
    withOne(bus({ bus: 'aws.partner-example.com-1' })),
    'subscriptions[0].bus:',
    "not a partner's, to which only the partner sends",
  ],
  ...['a bus', 'certifications/x', '', 'x'.repeat(257)].map(
    (name): Refusal => [
      `a bus with a name that EventBridge does not accept: ${name.slice(0, 20)}`,
      withOne(bus({ bus: name })),
      'subscriptions[0].bus:',
      'the name of an event bus',
    ],
  ),
  ...['alerts', 'operations'].map(
    (topic): Refusal => [
      `${topic} on a bus`,
      withOne(bus({ topic })),
      `subscriptions[0].topic: "${topic}" found`,
      "'events': a bus is for machines",
    ],
  ),
  [
    'a bus with an address',
    withOne(bus({ endpoint: addresses.lambda })),
    'subscriptions[0].endpoint:',
    "none: it is a setting of 'email', 'email-json', 'https', 'sqs', 'lambda'",
  ],
  [
    'raw messages for a bus: it does nothing there',
    withOne(bus({ raw: true })),
    'subscriptions[0].raw: true found',
    "only the protocols 'sqs' and 'https'",
  ],
  [
    'a bus for a queue',
    withOne({
      topic: 'events',
      protocol: 'sqs',
      endpoint: { newQueue: 'payroll' },
      bus: 'default',
    }),
    'subscriptions[0].bus: "default" found',
    "none: it is a setting of 'event-bus'",
  ],
  [
    'an address that is missing',
    withOne({ topic: 'events', protocol: 'sqs' }),
    'subscriptions[0].endpoint: nothing found',
    'an address that fits the protocol',
  ],
  [
    'the same bus twice',
    withOne(bus({ filter: { types: ['created'] } }), bus({ filter: { types: ['withdrawn'] } })),
    'subscriptions[1].bus: "default" found',
    'a bus that no other subscription has',
  ],
  ...[0, -1, 1.5, 3_654, '90'].map(
    (keepDays): Refusal => [
      `an archive for ${keepDays} days`,
      withOne(archive({ keepDays })),
      'subscriptions[0].keepDays:',
      'days, a whole number from 1 to 3653',
    ],
  ),
  ...['alerts', 'operations'].map(
    (topic): Refusal => [
      `an archive of ${topic}`,
      withOne(archive({ topic })),
      `subscriptions[0].topic: "${topic}" found`,
      "'events': an archive is for events",
    ],
  ),
  [
    'a second archive',
    withOne(archive(), archive({ filter: { late: true } })),
    'subscriptions[1].protocol: "archive" found',
    'one archive in a stack',
  ],
  [
    'an archive with a bucket for an address',
    withOne(archive({ endpoint: 'arn:aws:s3:::certifications' })),
    'subscriptions[0].endpoint:',
    'none: it is a setting of',
  ],
  [
    'an archive on a bus',
    withOne(archive({ bus: 'default' })),
    'subscriptions[0].bus: "default" found',
    "none: it is a setting of 'event-bus'",
  ],
  [
    'raw messages for an archive: they are, anyway',
    withOne(archive({ raw: true })),
    'subscriptions[0].raw: true found',
    "only the protocols 'sqs' and 'https'",
  ],
  [
    'days to keep what a bus does not keep',
    withOne(bus({ keepDays: 90 })),
    'subscriptions[0].keepDays: 90 found',
    "none: it is a setting of 'archive'",
  ],
  [
    'an archive with a setting that it does not have',
    withOne(archive({ storageClass: 'GLACIER' })),
    'subscriptions[0].storageClass: unknown setting',
    'an object with topic, protocol',
  ],
  [
    'a Slack channel without its workspace',
    withOne(slack({ workspace: undefined })),
    'subscriptions[0].workspace: nothing found',
    'the ID of a Slack workspace',
  ],
  ...['tenant', 'team'].map(
    (setting): Refusal => [
      `a Teams channel without its ${setting}`,
      withOne(teams({ [setting]: undefined })),
      `subscriptions[0].${setting}: nothing found`,
      `the ID of a Teams ${setting}`,
    ],
  ),
  [
    'a Slack channel without its ID',
    withOne(slack({ channel: undefined })),
    'subscriptions[0].channel: nothing found',
    `allowed: ${slackChannel}`,
  ],
  [
    'a Teams channel without its ID',
    withOne(teams({ channel: undefined })),
    'subscriptions[0].channel: nothing found',
    `allowed: ${teamsChannel}`,
  ],
  [
    'a channel that is a number',
    withOne(teams({ channel: 19 })),
    'subscriptions[0].channel: 19 found',
    'allowed: the ID of a channel',
  ],
  ...['#alerts', 'alerts', 'U0123ABCD', 'c0123abcd'].map(
    (channel): Refusal => [
      `a Slack channel by something else than its ID: ${channel}`,
      withOne(slack({ channel })),
      'subscriptions[0].channel:',
      `allowed: ${slackChannel}`,
    ],
  ),
  [
    'a Slack channel with the ID of one of Teams',
    withOne(slack({ channel: teams().channel })),
    'subscriptions[0].channel:',
    `allowed: ${slackChannel}`,
  ],
  [
    'a Teams channel with the ID of one of Slack',
    withOne(teams({ channel: 'C0123ABCD' })),
    'subscriptions[0].channel: "C0123ABCD" found',
    `allowed: ${teamsChannel}`,
  ],
  ...[
    '19:ab1c2d@thread.tacv2',
    '19%3Aab1c2d@thread.tacv2',
    'General',
    'https://teams.microsoft.com/l/channel/19%3Aab1c2d%40thread.tacv2/General?groupId=1&tenantId=2',
  ].map(
    (channel): Refusal => [
      `a Teams channel by something else than its encoded ID: ${channel}`,
      withOne(teams({ channel })),
      'subscriptions[0].channel:',
      `allowed: ${teamsChannel}`,
    ],
  ),
  [
    'a workspace by its name',
    withOne(slack({ workspace: 'district-a' })),
    'subscriptions[0].workspace: "district-a" found',
    "the ID of a Slack workspace, such as 'T0123ABCD'",
  ],
  ...['tenant', 'team'].map(
    (setting): Refusal => [
      `a ${setting} by its name`,
      withOne(teams({ [setting]: 'district-a.example.org' })),
      `subscriptions[0].${setting}: "district-a.example.org" found`,
      `the ID of a Teams ${setting}, a UUID`,
    ],
  ),
  ...[slack(), teams()].map(
    (chat): Refusal => [
      `events in a channel of ${chat.protocol}`,
      withOne({ ...chat, topic: 'events' }),
      'subscriptions[0].topic: "events" found',
      "'alerts' or 'operations': a channel is for people, and events are for machines",
    ],
  ),
  [
    'a filter for a channel',
    withOne(slack({ filter: { types: ['created'] } })),
    'subscriptions[0].filter: an object found',
    "none: only messages of the topic 'events'",
  ],
  [
    'raw messages for a channel',
    withOne(teams({ raw: true })),
    'subscriptions[0].raw: true found',
    "only the protocols 'sqs' and 'https'",
  ],
  [
    'a Slack channel with a webhook',
    withOne(slack({ endpoint: 'https://hooks.slack.com/services/T0AB/B0CD/x' })),
    'subscriptions[0].endpoint:',
    'none: it is a setting of',
  ],
  [
    'a Slack channel with a tenant',
    withOne(slack({ tenant: teams().tenant })),
    'subscriptions[0].tenant: a text of 36 characters found',
    "none: it is a setting of 'teams'",
  ],
  [
    'the same channel for the same topic twice',
    withOne(slack(), slack({ topic: 'operations' }), slack()),
    'subscriptions[2].channel: "C0123ABCD" found',
    'a channel that this topic does not have yet',
  ],
  [
    'the same channel in another spelling for the same topic',
    withOne(teams(), teams(otherSpelling)),
    'subscriptions[1].channel:',
    'a channel that this topic does not have yet',
  ],
  [
    'a team with two tenants',
    withOne(teams(), teams({ topic: 'alerts', tenant: otherTenant })),
    'subscriptions[1].tenant:',
    'the tenant of subscriptions[0]: a team belongs to one tenant',
  ],
  [
    'a team with two tenants in different channels',
    withOne(teams(), teams({ tenant: otherTenant, channel: '19%3Az%40thread.tacv2' })),
    'subscriptions[1].tenant:',
    'the tenant of subscriptions[0]: a team belongs to one tenant',
  ],
  [
    'a team with a tenant, and with the name of one',
    withOne(teams({ tenant: 'district-a.example.org' }), teams({ topic: 'alerts' })),
    'subscriptions[0].tenant:',
    'the ID of a Teams tenant, a UUID',
  ],
  ...[slack(), teams()].map(
    (chat): Refusal => [
      `events of a FIFO topic in a channel of ${chat.protocol}`,
      { ...withOne({ ...chat, topic: 'events' }), topic: 'fifo' },
      'subscriptions[0].topic: "events" found',
      "'alerts' or 'operations': a channel is for people, and events are for machines",
    ],
  ),
  [
    'a mail for each event on a bus',
    withOne(bus({ mailPerEvent: true })),
    'subscriptions[0].mailPerEvent: true found',
    'false: it is about mail',
  ],
];

describe('a wrong destination is named with its place, its value and the allowed values', () => {
  it.each(refusals)('%s', (_what, input, found, allowed) => expectOneLine(input, found, allowed));
});

it.each(refusals.filter(([, , found]) => found.includes('.channel:')))(
  '%s: the line speaks of one chat only',
  (_what, input) => {
    const [problem = ''] = problemsOf(input);
    expect(['Slack', 'Teams'].filter((chat) => problem.includes(chat)).length).toBeLessThan(2);
  },
);
