import * as z from 'zod';
import { described } from '../config-error.ts';
import { alerts } from './alerts.ts';
import { integration } from './integration.ts';
import { maxIntegrations, maxResources, resourcesOf } from './limits.ts';
import { subscription } from './subscription.ts';
import { arn, flag, keyArn, list, name, oneOf, record, text } from './words.ts';

/** The retention times that CloudWatch Logs knows (PutRetentionPolicy), up to ten years. */
const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288,
  3653,
] as const;

/** AWS: a resource, and a stack, has at most so many tags of its owner's. */
const maxTags = 50;

export const deployment = record({
  integrations: list(integration, `1 to ${maxIntegrations} integrations`, maxIntegrations).describe(
    'What to watch: one element for each set of credentials at the partner.',
  ),
  subscriptions: z
    .array(subscription, { error: 'a list of subscriptions' })
    .meta({ allowed: 'a list of subscriptions' })
    .default(() => [])
    .describe(
      'Whom to tell. What SNS cannot deliver to a subscriber waits in a dead-letter queue of its own for 14 days, and operators are told.',
    ),
  topic: oneOf(['standard', 'fifo'])
    .default('standard')
    .describe(
      "The kind of the events topic. `'fifo'` keeps the order of the events of one assessment and drops duplicates within five minutes, but takes queues only. A change replaces the topic: subscribers from elsewhere have to subscribe again.",
    ),
  alerts: alerts.prefault({}).describe('How people are told.'),
  subscriberAccounts: z
    .array(
      text('an AWS account id of 12 digits', (value) => /^\d{12}$/.test(value)),
      { error: 'a list of AWS account ids' },
    )
    .meta({ allowed: 'a list of AWS account ids' })
    .default(() => [])
    .describe(
      'Accounts that may subscribe their own queues and functions to the events topic; no address, and no queue of another account.',
    ),
  stackName: name(
    'letters, digits and hyphens, starting with a letter, at most 128 characters',
    (value) => /^[A-Za-z][A-Za-z0-9-]{0,127}$/.test(value),
  )
    .default('certification-notifier')
    .describe('The CloudFormation stack. A second deployment in the same account needs another.'),
  keyArn: keyArn()
    .optional()
    .describe(
      "An existing customer key for the topics and the queues of the stack, instead of a new one for a dollar a month. Its policy has to let in whom a new one's would: see above. AWS's own key for SNS cannot let alarms in: they would be dropped silently.",
    ),
  pagerTopicArn: text('the ARN of a standard SNS topic', (value) =>
    arn('sns', /[\w-]{1,256}/).test(value),
  )
    .optional()
    .describe(
      "An existing topic that wakes somebody, for instance the pager's. Told once when ticks of an integration fail or do not complete, or its events are not accepted, and once when that is over. Its policy, and that of its key, must let CloudWatch publish.",
    ),
  dashboard: flag()
    .default(true)
    .describe('A CloudWatch dashboard. The first three of an account are free.'),
  permissionsBoundary: text(
    'the name or the ARN of an IAM policy',
    (value) =>
      arn('iam', /policy\/([\w+=,.@-]+\/)*[\w+=,.@-]{1,128}/).test(value) ||
      /^[\w+=,.@-]{1,128}$/.test(value),
  )
    .optional()
    .describe('A managed policy of this account, set on every role of the stack.'),
  logRetentionDays: z
    .literal(retentionDays, { error: `one of ${retentionDays.join(', ')}` })
    .meta({ allowed: `one of ${retentionDays.join(', ')}` })
    .default(30)
    .describe("How long the functions' logs are kept. They hold no personal data."),
  terminationProtection: flag().default(true).describe('Whether the stack refuses to be deleted.'),
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
    .refine((tags) => Object.keys(tags).length <= maxTags, { error: `at most ${maxTags} tags` })
    .meta({ allowed: `an object of at most ${maxTags} tag keys and values` })
    .default(() => ({}))
    .describe('On everything that can be tagged.'),
}).superRefine(
  (value, problems) => {
    for (const { path, message } of clashesIn(value))
      problems.addIssue({ code: 'custom', path, message });
  },
  { when: () => true },
);

interface Clash {
  readonly path: (string | number)[];
  readonly message: string;
}

// The checks across settings run even when other settings are wrong, so that one run tells all.
// They read only what they need and pass over what has another shape.
const textOrNothing = z.string().catch('');
const shape = z
  .looseObject({
    topic: textOrNothing,
    integrations: z.array(z.looseObject({ name: textOrNothing }).catch({ name: '' })).catch([]),
    subscriptions: z
      .array(
        z
          .looseObject({
            topic: textOrNothing,
            protocol: textOrNothing,
            endpoint: z
              .union([
                z.string(),
                z
                  .looseObject({ newQueue: z.string() })
                  .transform(({ newQueue }) => `new ${newQueue}`),
              ])
              .catch(''),
            filter: z
              .looseObject({ integrations: z.array(textOrNothing).catch([]) })
              .catch({ integrations: [] }),
          })
          .catch({ topic: '', protocol: '', endpoint: '', filter: { integrations: [] } }),
      )
      .catch([]),
  })
  .catch({ topic: '', integrations: [], subscriptions: [] });

type Shape = z.output<typeof shape>;

function clashesIn(value: unknown): Clash[] {
  const config = shape.parse(value);
  return [
    ...sharedNames(config),
    ...sharedAddresses(config),
    ...unknownIntegrations(config),
    ...unfitForTheTopic(config),
    ...tooMuchForAStack(config),
  ];
}

/** CloudFormation's logical ids have no hyphens: `a-1` and `a1` would be one output. */
const bare = (name: string) => name.replaceAll('-', '');

function sharedNames({ integrations }: Shape): Clash[] {
  const names = integrations.map(({ name }) => bare(name));
  return names.flatMap((name, index) =>
    name && names.indexOf(name) < index
      ? {
          path: ['integrations', index, 'name'],
          message: 'a name that no other integration has (hyphens do not count)',
        }
      : [],
  );
}

function sharedAddresses({ subscriptions }: Shape): Clash[] {
  const addresses = subscriptions.map(({ topic, protocol, endpoint }) =>
    // A new queue takes one subscription, whatever the topic: the names of its outputs are its own.
    endpoint.startsWith('new ') ? bare(endpoint) : [topic, protocol, endpoint].join(' '),
  );
  return addresses.flatMap((address, index) =>
    subscriptions[index]?.endpoint && addresses.indexOf(address) < index
      ? {
          path: ['subscriptions', index],
          message: 'a topic and endpoint not yet subscribed (SNS keeps one filter for each)',
        }
      : [],
  );
}

function unknownIntegrations({ integrations, subscriptions }: Shape): Clash[] {
  const names = integrations.map(({ name }) => name);
  return subscriptions.flatMap(({ filter }, subscriber) =>
    filter.integrations.flatMap((name, index) =>
      name && !names.includes(name)
        ? {
            path: ['subscriptions', subscriber, 'filter', 'integrations', index],
            message: `the name of a configured integration (${names.map(described).join(', ')})`,
          }
        : [],
    ),
  );
}

/** "Message delivery for FIFO topics" in the Amazon SNS developer guide. */
function unfitForTheTopic({ topic, subscriptions }: Shape): Clash[] {
  return subscriptions.flatMap((subscription, index) => {
    const isFifo = topic === 'fifo' && subscription.topic === 'events';
    if (isFifo && subscription.protocol !== 'sqs' && subscription.protocol !== '')
      return {
        path: ['subscriptions', index, 'protocol'],
        message: "'sqs': a FIFO topic delivers to queues only (a queue can feed a function)",
      };
    if (!isFifo && subscription.protocol === 'sqs' && subscription.endpoint.endsWith('.fifo'))
      return {
        path: ['subscriptions', index, 'endpoint'],
        message: 'a standard queue: a FIFO queue cannot subscribe to a standard topic',
      };
    return [];
  });
}

function tooMuchForAStack({ integrations, subscriptions }: Shape): Clash[] {
  const fanOuts = integrations.filter(({ baseline }) => baseline !== 'tick').length;
  const resources = resourcesOf(integrations.length, subscriptions.length, fanOuts);
  if (integrations.length > maxIntegrations || resources <= maxResources) return [];
  return [
    {
      path: ['subscriptions'],
      message: `fewer: with ${integrations.length} integrations they would be ${resources} resources, and CloudFormation takes ${maxResources} (a second deployment needs another stackName)`,
    },
  ];
}
