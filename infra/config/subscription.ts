import * as z from 'zod';
import { filter } from './filter.ts';
import { maxReaders } from './policy-sizes.ts';
import {
  arn,
  fitsOrIsDeferred,
  flag,
  isUnrouted,
  list,
  name,
  oneOf,
  record,
  text,
  whole,
} from './words.ts';

const fits = (pattern: RegExp) => (value: string) => pattern.test(value);

/** SNS subscribes one address each; RFC 3696: no longer than this. */
const maxMail = 320;
/** SNS's limit of a subscription's endpoint. */
const maxUrl = 2_048;
/** RFC 1035: of a host name. */
const maxHost = 253;
/** CloudFormation's limit of the function in an `AWS::Lambda::Permission`. */
const maxFunction = 140;

const mail = {
  allowed: `one e-mail address of at most ${maxMail} characters, all of them ASCII`,
  // RFC 5322's dot-atom, and host names: what SNS takes of other forms is not documented.
  accepts: (value: string) =>
    value.length <= maxMail &&
    /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z\d]([a-z\d-]*[a-z\d])?$/i.test(
      value,
    ),
};

const webhook = {
  allowed: `an https URL of at most ${maxUrl} characters, of a host on the internet`,
  accepts: (value: string) =>
    value.length <= maxUrl &&
    /^https:\/\/[^\s/@]+(\/\S*)?$/.test(value) &&
    URL.canParse(value) &&
    new URL(value).hostname.length <= maxHost &&
    !isUnrouted(value),
};

/** Incoming webhooks of chats: they do not confirm a subscription, and show nothing that SNS sends. */
const chatHooks = [
  { chat: 'Slack', hook: /^hooks\.slack(-gov)?\.com\// },
  {
    chat: 'Microsoft Teams',
    hook: /^([\w-]+\.)*webhook\.office\.com\/|^outlook\.office(365)?\.com\/webhook|^[\w.-]+\.api\.powerplatform\.com(:443)?\//,
  },
] as const;

/** Whose incoming webhook a URL is. */
function chatOf(url: string): string | undefined {
  if (!webhook.accepts(url)) return undefined;
  const { host, pathname } = new URL(url);
  return chatHooks.find(({ hook }) => hook.test(`${host}${pathname}`))?.chat;
}

const endpoints = {
  email: mail,
  'email-json': mail,
  https: webhook,
  sqs: {
    allowed: "the ARN of a queue, or an object with newQueue: the new queue's name",
    accepts: fits(arn('sqs', /([\w-]{1,80}|[\w-]{1,75}\.fifo)/)),
  },
  lambda: {
    allowed: `the ARN of a function, of at most ${maxFunction} characters`,
    accepts: (value: string) =>
      value.length <= maxFunction &&
      arn('lambda', /function:[\w-]{1,64}(:[\w-]{1,128})?/).test(value),
  },
} as const;

/** A queue that the stack makes, ready to be read. */
const newQueue = record({
  newQueue: name(
    'lower-case letters, digits and single hyphens, starting with a letter, at most 40 characters',
    (value) => value.length <= 40 && /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(value),
  ).describe(
    'What the queue is called in the outputs. It is of the kind of its topic (FIFO or standard), encrypted, lets nobody but the topic send, and has a dead-letter queue.',
  ),
  readers: list(
    text(
      'the ARN of an IAM role or user that exists',
      fitsOrIsDeferred(arn('iam', /(role|user)\/([\w+=,.@-]+\/)*[\w+=,.@-]{1,64}/)),
    ),
    'at least one ARN of an IAM role or user',
    maxReaders,
  )
    .optional()
    .describe(
      'Who may receive from it and delete what has been handled. Roles of this account may also be allowed in their own policies; those of other accounts need both.',
    ),
  visibilityTimeout: whole('seconds', 0, 43_200)
    .default(90)
    .describe(
      'How long a received message stays hidden from other receivers: longer than handling one takes, and times `attempts` less one longer than a worker that died keeps others waiting (`claimFor`, five minutes by default). For a Lambda function, AWS advises six times its time-out.',
    ),
  attempts: whole('times that a message is received', 1, 1_000)
    .default(5)
    .describe('After so many attempts, a message goes to the dead-letter queue.'),
});

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** What the rules look at. It may have any shape that the settings by themselves allow, or a wrong one. */
interface Given {
  readonly topic: string;
  readonly protocol: keyof typeof endpoints;
  readonly endpoint: unknown;
  readonly raw: boolean;
  readonly mailPerEvent: boolean;
  readonly filter?: unknown;
}

/** Each looks at how some settings go together. */
const refusals: readonly ((given: Given) => readonly Problem[])[] = [
  ({ protocol, endpoint }) => {
    const expected = endpoints[protocol];
    const isRight =
      typeof endpoint === 'string'
        ? expected?.accepts(endpoint)
        : typeof endpoint !== 'object' || protocol === 'sqs';
    return expected && !isRight ? [{ path: 'endpoint', message: expected.allowed }] : [];
  },
  ({ protocol, endpoint }) => {
    const chat = protocol === 'https' && typeof endpoint === 'string' && chatOf(endpoint);
    const message = `a webhook of your own; one of ${chat} does not confirm a subscription, and shows nothing that SNS sends`;
    return chat ? [{ path: 'endpoint', message }] : [];
  },
  ({ topic, protocol, mailPerEvent }) => {
    const isMailPerEvent = topic === 'events' && /^email/.test(protocol);
    if (isMailPerEvent === mailPerEvent) return [];
    return isMailPerEvent
      ? [
          {
            path: 'topic',
            message:
              "'alerts', whose digests are for people; or mailPerEvent: true, if one mail for each event is what is wanted",
          },
        ]
      : [{ path: 'mailPerEvent', message: "false: it is about mail on the topic 'events' only" }];
  },
  ({ protocol, raw }) =>
    raw === true && protocol !== 'sqs' && protocol !== 'https'
      ? [{ path: 'raw', message: "false: only the protocols 'sqs' and 'https' know raw messages" }]
      : [],
  ({ topic, filter }) =>
    filter !== undefined && topic !== 'events'
      ? [
          {
            path: 'filter',
            message: "none: only messages of the topic 'events' carry what a filter looks at",
          },
        ]
      : [],
];

export const subscription = record({
  topic: oneOf(['events', 'alerts', 'operations']).describe(
    '`events`: one message each, for machines. `alerts`: a digest a tick, for people. `operations`: trouble, for those who run this.',
  ),
  protocol: oneOf(['email', 'email-json', 'https', 'sqs', 'lambda']).describe(
    'An e-mail address and an https URL have to confirm before they get anything. SNS switches off an e-mail subscription that gets more than ten messages a second: mail belongs on `alerts` and `operations`.',
  ),
  endpoint: z
    .union([z.string({ error: 'an address that fits the protocol' }), newQueue], {
      error: 'an address that fits the protocol',
    })
    .meta({
      allowed: `an address that fits the protocol (for \`sqs\`: ${endpoints.sqs.allowed})`,
    })
    .describe('Where messages go.'),
  raw: flag()
    .default(false)
    .describe(
      "`sqs` and `https` only. `true`: a message is the event itself, without SNS's envelope; its attributes are those of the SQS message. A raw message carries no signature: a webhook on the internet should take the envelope and verify it.",
    ),
  mailPerEvent: flag()
    .default(false)
    .describe(
      'Mail on `events` only. `true`: one mail for each event is what is wanted. It holds the event as JSON, and a busy minute has more than the ten a second after which SNS switches a subscription by mail off; people want the digests of `alerts`.',
    ),
  filter: filter
    .optional()
    .describe(
      'Which events; without it, all. A list matches any of its values, and all settings have to match. SNS allows 150 combinations of values in one filter.',
    ),
}).superRefine(
  (value, problems) => {
    for (const { path, message } of refusals.flatMap((refusal) => refusal(value)))
      problems.addIssue({ code: 'custom', path: [path], message });
  },
  { when: ({ value }) => typeof value === 'object' && value !== null },
);

export type SubscriptionConfig = z.output<typeof subscription>;
export type NewQueueConfig = z.output<typeof newQueue>;
