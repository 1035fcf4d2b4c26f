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

  it('may have a filter, and may be of a FIFO topic', () => {
    const filter = { types: ['created'] };
    expect(problemsOf({ ...withOne(bus({ filter })), topic: 'fifo' })).toEqual([]);
  });

  it('may be an archive, which keeps for two years unless told otherwise', () => {
    const { subscriptions } = parseConfig(withOne(archive()));
    expect(subscriptions).toEqual([{ topic: 'events', protocol: 'archive', keepDays: 731 }]);
    const parsed = parseConfig({ ...withOne(archive({ keepDays: 1 })), topic: 'fifo' });
    expect(parseConfig(parsed)).toEqual(parsed);
  });

  it('is read again as it was read: a stack is built of what a configuration became', () => {
    const config = parseConfig(withOne(bus({ filter: { late: true } })));
    expect(parseConfig(config)).toEqual(config);
  });
});

const archive = (settings: object = {}) => ({
  topic: 'events',
  protocol: 'archive',
  ...settings,
});

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
      `a bus with a name that EventBridge does not take: ${name.slice(0, 20)}`,
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
      "'events': an archive keeps what has happened",
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
    'a mail for each event on a bus',
    withOne(bus({ mailPerEvent: true })),
    'subscriptions[0].mailPerEvent: true found',
    'false: it is about mail',
  ],
];

describe('a wrong destination is named with its place, what was found and what is allowed', () => {
  it.each(refusals)('%s', (_what, input, found, allowed) => expectOneLine(input, found, allowed));
});
