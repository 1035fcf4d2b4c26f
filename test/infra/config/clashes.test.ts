import { describe, expect, it } from 'vitest';
import {
  addresses,
  district,
  expectOneLine,
  problemsOf,
  queue,
  type Refusal,
  withFilter,
  withQueue,
} from './settings.ts';

describe('a valid combination', () => {
  it.each([queue.endpoint, `${queue.endpoint}.fifo`, { newQueue: 'payroll' }])(
    'is a FIFO topic and the queue %s',
    (endpoint) => {
      expect(problemsOf({ ...withQueue({ endpoint }), topic: 'fifo' })).toEqual([]);
    },
  );

  it('is mail and functions beside a FIFO topic of events', () => {
    for (const protocol of ['email', 'https', 'lambda'] as const)
      expect(
        problemsOf({
          ...withQueue({ topic: 'alerts', protocol, endpoint: addresses[protocol] }),
          topic: 'fifo',
        }),
      ).toEqual([]);
  });

  it('is two secrets of one name for two partners', () => {
    const secretName = 'partner';
    const other = { ...district, name: 'b', baseUrl: 'https://other.example.org', secretName };
    expect(problemsOf({ integrations: [{ ...district, secretName }, other] })).toEqual([]);
  });

  it('is a queue in another region than the key', () => {
    expect(
      problemsOf({
        ...withQueue({ endpoint: 'arn:aws:sqs:eu-west-1:111122223333:payroll' }),
        keyArn: `arn:aws:kms:us-east-1:111122223333:key/mrk-${'0'.repeat(32)}`,
      }),
    ).toEqual([]);
  });
});

describe('an invalid combination is named with its place, its value and the allowed values', () => {
  it.each<Refusal>([
    [
      'digests that are sent more often than ticks read',
      {
        integrations: [
          { ...district, every: 10 },
          { ...district, name: 'district-b', every: 15 },
        ],
        alerts: { digestEvery: 5 },
      },
      'alerts.digestEvery: 5 found',
      'at least the shortest `every` (10)',
    ],
    [
      'a FIFO queue',
      withQueue({ endpoint: `${queue.endpoint}.fifo` }),
      'subscriptions[0].endpoint:',
      'a FIFO queue cannot',
    ],
    [
      'a FIFO queue for people, with any kind of events topic',
      { ...withQueue({ topic: 'alerts', endpoint: `${queue.endpoint}.fifo` }), topic: 'fifo' },
      'subscriptions[0].endpoint:',
      'a FIFO queue cannot',
    ],
    ...(['https', 'lambda'] as const).map(
      (protocol): Refusal => [
        `a FIFO topic's events by ${protocol}`,
        { ...withQueue({ protocol, endpoint: addresses[protocol] }), topic: 'fifo' },
        `subscriptions[0].protocol: "${protocol}" found`,
        "'sqs', 'event-bus' or 'archive': a FIFO topic delivers to queues only (a queue can feed",
      ],
    ),
    ...(['email', 'email-json'] as const).flatMap((protocol) =>
      [false, true].map(
        (mailPerEvent): Refusal => [
          `a FIFO topic's events by ${protocol}, mailPerEvent: ${mailPerEvent}`,
          {
            ...withQueue({ protocol, endpoint: addresses[protocol], mailPerEvent }),
            topic: 'fifo',
          },
          `subscriptions[0].protocol: "${protocol}" found`,
          "'sqs', 'event-bus' or 'archive': a FIFO topic delivers to queues only (mail gets",
        ],
      ),
    ),
    [
      'the same new queue for two topics',
      {
        integrations: [district],
        subscriptions: [
          { ...queue, endpoint: { newQueue: 'pay-roll' } },
          { ...queue, topic: 'alerts', endpoint: { newQueue: 'payroll' } },
        ],
      },
      'subscriptions[1].endpoint.newQueue: "payroll" found',
      'no other new queue has',
    ],
    [
      'a secret that two integrations at one partner share',
      {
        integrations: ['a', 'b'].map((name) => ({ ...district, name, secretName: 'partner' })),
      },
      'integrations[1].secretName: "partner" found',
      'no other integration with this baseUrl',
    ],
    [
      'a key and a topic of two regions',
      {
        integrations: [district],
        keyArn: `arn:aws:kms:us-east-1:111122223333:key/mrk-${'0'.repeat(32)}`,
        pagerTopicArn: 'arn:aws:sns:eu-west-1:111122223333:pager',
      },
      'pagerTopicArn: "arn:aws:sns:eu-west-1:111122223333:pager" found',
      'an ARN of "us-east-1", as keyArn is',
    ],
    [
      'a key and a topic of two partitions',
      {
        integrations: [district],
        keyArn: `arn:aws:kms:us-east-1:111122223333:key/mrk-${'0'.repeat(32)}`,
        pagerTopicArn: 'arn:aws-cn:sns:cn-north-1:111122223333:pager',
      },
      'pagerTopicArn: "arn:aws-cn:sns:cn-north-1:111122223333:pager" found',
      'an ARN of the partition "aws", as keyArn is',
    ],
    [
      'a subscriber in another partition than the pager',
      {
        ...withQueue({ endpoint: 'arn:aws-us-gov:sqs:us-gov-west-1:111122223333:payroll' }),
        pagerTopicArn: 'arn:aws:sns:us-east-1:111122223333:pager',
      },
      'subscriptions[0].endpoint: "arn:aws-us-gov:sqs:us-gov-west-1:111122223333:payroll" found',
      'an ARN of the partition "aws", as pagerTopicArn is',
    ],
    [
      'more subscriptions than fit into a stack',
      {
        integrations: [district],
        subscriptions: Array.from({ length: 118 }, (_, index) => ({
          ...queue,
          topic: 'alerts',
          endpoint: `${queue.endpoint}-${index}`,
        })),
      },
      'subscriptions: a list of 118 found',
      '510 resources, and CloudFormation takes 500',
    ],
    [
      'an unknown integration in a filter',
      withFilter({ integrations: ['district-z'] }),
      'subscriptions[0].filter.integrations[0]: "district-z" found',
      'a configured integration ("district-a")',
    ],
  ])('%s', (_what, input, found, allowed) => expectOneLine(input, found, allowed));
});

describe('settings that must differ', () => {
  it.each(['district-a', 'districta'])('two integrations that would share outputs: %s', (name) => {
    const problems = problemsOf({ integrations: [district, { ...district, name }] });
    expect(problems).toEqual([
      `integrations[1].name: "${name}" found; allowed: a name that no other integration has (hyphens do not count)`,
    ]);
  });

  it('two subscriptions of one endpoint to one topic are refused, with or without another filter', () => {
    expect(
      problemsOf({
        integrations: [district],
        subscriptions: [queue, { ...queue, filter: { late: true } }, { ...queue, topic: 'alerts' }],
      }),
    ).toEqual([
      expect.stringMatching(/^subscriptions\[1\]: an object found; .*not yet subscribed/),
    ]);
  });
});
