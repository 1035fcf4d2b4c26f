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

/** RFC 3696: the longest e-mail address. */
const maxMail = 320;
/** SNS's limit for the endpoint of a subscription. */
const maxUrl = 2_048;
/** RFC 1035: the longest host name. */
const maxHost = 253;
/** CloudFormation's limit for the function in an `AWS::Lambda::Permission`. */
const maxFunction = 140;

const mail = {
  allowed: `one e-mail address of at most ${maxMail} characters, all of them ASCII`,
  // RFC 5322's dot-atom, and host names. Which other forms SNS takes is not documented.
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

/** Incoming webhooks of chats. They neither confirm a subscription nor show SNS's messages. */
const chatHooks = [
  { protocol: 'slack', name: 'Slack', hook: /^hooks\.slack(-gov)?\.com\// },
  {
    protocol: 'teams',
    name: 'Microsoft Teams',
    // With those of Power Automate, also in Microsoft's clouds for the US government and for China.
    hook: /^([\w-]+\.)*webhook\.office\.com\/|^outlook\.office(365)?\.com\/webhook|^[\w.-]+\.api\.([\w-]+\.)?powerplatform\.(com|microsoft\.us|partner\.microsoftonline\.cn)\/|^[\w.-]+\.api\.appsplatform\.us\/|^[\w.-]+\.logic\.azure\.(com|us|cn)\/workflows\//,
  },
] as const;

/** The chat whose incoming webhook a URL is. */
function chatOf(url: string) {
  if (!webhook.accepts(url)) return undefined;
  const { hostname, pathname } = new URL(url);
  // A host name may end with the dot of DNS's root, and any port is the same chat's.
  const host = hostname.replace(/\.$/, '');
  return chatHooks.find(({ hook }) => hook.test(`${host}${pathname}`));
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

/** "Event bus names" in the EventBridge API reference, without the buses of partners. */
const bus = name(
  "'default' or the name of an event bus of the account and region that is deployed to (a pipe reaches no other: let a rule on that bus pass the events on); not a partner's, to which only the partner sends",
  fits(/^(?!aws\.)[\w.-]{1,256}$/),
);

const workspace = text(
  "the ID of a Slack workspace, such as 'T0123ABCD'",
  fits(/^T[0-9A-Z]{2,254}$/),
);
const channels = {
  slack: {
    allowed: "the ID of a Slack channel, such as 'C0123ABCD' (not its name)",
    accepts: fits(/^[CG][0-9A-Z]{2,254}$/),
  },
  teams: {
    allowed:
      "the ID of a Teams channel, encoded as in the link to the channel: the part between /channel/ and the next /, such as '19%3A…%40thread.tacv2'",
    accepts: fits(/^[\w=+/.,-]{1,100}%3a[\w=+/.,-]{1,200}%40[\w=+/.,-]{1,100}$/i),
  },
} as const;
/** Any text. The rules know the protocol, so that the problem speaks of the chosen chat only. */
const channel = z
  .string({ error: 'the ID of a channel' })
  .meta({ allowed: `${channels.slack.allowed}, or ${channels.teams.allowed}` });
/** An ID of Microsoft. It is no secret. */
const uuid = (what: string) =>
  text(`the ID of a Teams ${what}, a UUID`, fits(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i));

/** UUIDs, escapes and host names mean the same in capitals; the middle of a channel's ID may not. */
const inLowerCase = (id: string) => id.toLowerCase();
const inOneSpelling = (channel: string) =>
  channel.replace(/%3a/i, '%3A').replace(/%40.*$/, (host) => host.toLowerCase());

const keepDays = whole('days', 1, 3_653);
const keptFor = 731;

/** A queue that the stack makes for a subscriber. */
const newQueue = record({
  newQueue: name(
    'lower-case letters, digits and single hyphens, starting with a letter, at most 40 characters',
    (value) => value.length <= 40 && /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(value),
  ).describe(
    'The name of the queue in the outputs. The queue has the kind of its topic (FIFO or standard), is encrypted, lets only the topic send, and has a dead-letter queue.',
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
      'The IAM roles and users that may receive from the queue and delete handled messages. Roles of this account may also be allowed in their own policies; those of other accounts need both.',
    ),
  visibilityTimeout: whole('seconds', 0, 43_200)
    .default(90)
    .describe(
      'How long a received message stays hidden from other receivers. It must be longer than handling a message takes. Times `attempts` less one, it must be longer than a dead worker keeps others waiting (`claimFor`, five minutes by default). For a Lambda function, AWS advises six times its time-out.',
    ),
  attempts: whole('times that a message is received', 1, 1_000)
    .default(5)
    .describe('After so many attempts, a message goes to the dead-letter queue.'),
});

const settings = record({
  topic: oneOf(['events', 'alerts', 'operations']).describe(
    '`events`: one message each, for machines. `alerts`: a digest a tick, for people. `operations`: alarms and notices, for ops.',
  ),
  protocol: oneOf([
    'email',
    'email-json',
    'https',
    'sqs',
    'lambda',
    'event-bus',
    'archive',
    'slack',
    'teams',
  ]).describe(
    '`slack` and `teams`: messages in a channel, by Amazon Q Developer in chat applications (`docs/operations.md#chat`). `event-bus`: events on an EventBridge bus (`docs/subscribing.md#an-eventbridge-bus`). `archive`: events in a bucket (`docs/subscribing.md#an-archive`). An e-mail address and an https URL have to confirm before they get anything. SNS switches off an e-mail subscription that gets more than ten messages a second: mail belongs on `alerts` and `operations`.',
  ),
  endpoint: z
    .union([z.string({ error: 'an address that fits the protocol' }), newQueue], {
      error: 'an address that fits the protocol',
    })
    .meta({
      allowed: `an address that fits the protocol (for \`sqs\`: ${endpoints.sqs.allowed})`,
    })
    .optional()
    .describe(
      'The address of the subscriber. Required by `email`, `email-json`, `https`, `sqs` and `lambda`; the other protocols have settings of their own.',
    ),
  bus: bus.optional().describe('Only for `event-bus`, which requires it.'),
  workspace: workspace.optional().describe('Only for `slack`, which requires it.'),
  tenant: uuid('tenant')
    .transform(inLowerCase)
    .optional()
    .describe('Only for `teams`, which requires it.'),
  team: uuid('team')
    .transform(inLowerCase)
    .optional()
    .describe('Only for `teams`, which requires it.'),
  channel: channel
    .transform(inOneSpelling)
    .optional()
    .describe('Only for `slack` and `teams`, which require it.'),
  keepDays: keepDays
    .optional()
    .describe(
      `Only for \`archive\`: an event is deleted after so many days. Without it: ${keptFor}, two years.`,
    ),
  raw: flag()
    .default(false)
    .describe(
      "`sqs` and `https` only. `true`: a message is the event itself, without SNS's envelope; its attributes are those of the SQS message. A raw message carries no signature: a webhook on the internet should take the envelope and verify it.",
    ),
  mailPerEvent: flag()
    .default(false)
    .describe(
      'Only for mail on `events`. `true`: one mail for each event is wanted. Each mail holds the event as JSON. More than ten mails a second, as in a busy minute, make SNS switch the subscription off. People want the digests of `alerts`.',
    ),
  filter: filter
    .optional()
    .describe(
      'The events that the subscriber gets; without it, all. A list matches any of its values, and all settings have to match. SNS allows 150 combinations of values in one filter.',
    ),
});

type Settings = z.output<typeof settings>;
type Protocol = Settings['protocol'];

/** The settings that the rules look at. Each may have any shape that its own schema allows, or a wrong one. */
type Given = { readonly [Setting in keyof Settings]?: unknown };

interface Problem {
  readonly path: keyof Settings;
  readonly message: string;
}

/** The topics of a protocol, and its own settings. */
interface Kind {
  readonly topics: readonly Settings['topic'][];
  /** The advice for a topic that is none of these. */
  readonly instead: string;
  readonly needs: readonly (keyof Settings)[];
  readonly may?: readonly (keyof Settings)[];
}

const everyTopic = ['events', 'alerts', 'operations'] as const;
const forPeople = ['alerts', 'operations'] as const;
const forChats = 'a channel is for people, and events are for machines';
const address: Kind = { topics: everyTopic, instead: '', needs: ['endpoint'] };
const kinds: Readonly<Record<Protocol, Kind>> = {
  email: address,
  'email-json': address,
  https: address,
  sqs: address,
  lambda: address,
  'event-bus': { topics: ['events'], instead: 'a bus is for machines', needs: ['bus'] },
  slack: { topics: forPeople, instead: forChats, needs: ['workspace', 'channel'] },
  teams: { topics: forPeople, instead: forChats, needs: ['tenant', 'team', 'channel'] },
  archive: {
    topics: ['events'],
    instead: 'an archive is for events',
    needs: [],
    may: ['keepDays'],
  },
};

const isProtocol = (value: unknown): value is Protocol =>
  typeof value === 'string' && Object.hasOwn(kinds, value);
const isChatProtocol = (value: unknown): value is keyof typeof channels =>
  typeof value === 'string' && Object.hasOwn(channels, value);
const isAddressed = (value: unknown): value is keyof typeof endpoints =>
  typeof value === 'string' && Object.hasOwn(endpoints, value);

/** Settings that only some protocols have, and the allowed values where one is lacking. */
const own: readonly { readonly path: keyof Settings; readonly allowed: string }[] = [
  { path: 'endpoint', allowed: 'an address that fits the protocol' },
  { path: 'bus', allowed: allowedAs(bus) },
  { path: 'workspace', allowed: allowedAs(workspace) },
  { path: 'tenant', allowed: allowedAs(uuid('tenant')) },
  { path: 'team', allowed: allowedAs(uuid('team')) },
  { path: 'channel', allowed: allowedAs(channel) },
  { path: 'keepDays', allowed: allowedAs(keepDays) },
];

function allowedAs(setting: z.ZodType): string {
  return String(setting.meta()?.allowed);
}

/** Each rule looks at a combination of settings. */
const refusals: readonly ((given: Given) => readonly Problem[])[] = [
  (settings) => {
    const { protocol } = settings;
    if (!isProtocol(protocol)) return [];
    const { needs, may = [] } = kinds[protocol];
    return own.flatMap(({ path, allowed }): Problem[] => {
      const isThere = settings[path] !== undefined;
      if (isThere ? [...needs, ...may].includes(path) : !needs.includes(path)) return [];
      const of = Object.entries(kinds).flatMap(([name, kind]) =>
        [...kind.needs, ...(kind.may ?? [])].includes(path) ? `'${name}'` : [],
      );
      if (isThere) return [{ path, message: `none: it is a setting of ${of.join(', ')}` }];
      return [
        {
          path,
          message:
            path === 'channel' && isChatProtocol(protocol) ? channels[protocol].allowed : allowed,
        },
      ];
    });
  },
  ({ topic, protocol }) => {
    if (!isProtocol(protocol)) return [];
    const { topics, instead } = kinds[protocol];
    return topics.some((one) => one === topic) || !everyTopic.some((one) => one === topic)
      ? []
      : [
          {
            path: 'topic',
            message: `${topics.map((one) => `'${one}'`).join(' or ')}: ${instead}`,
          },
        ];
  },
  ({ protocol, endpoint }) => {
    if (!isAddressed(protocol)) return [];
    const { accepts, allowed } = endpoints[protocol];
    const isRight =
      typeof endpoint === 'string'
        ? accepts(endpoint)
        : typeof endpoint !== 'object' || protocol === 'sqs';
    return isRight ? [] : [{ path: 'endpoint', message: allowed }];
  },
  ({ protocol, endpoint }) => {
    const chat =
      protocol === 'https' && typeof endpoint === 'string' ? chatOf(endpoint) : undefined;
    const message = `a webhook of your own; one of ${chat?.name} does not confirm a subscription, and shows nothing that SNS sends: the protocol '${chat?.protocol}' tells a channel`;
    return chat ? [{ path: 'endpoint', message }] : [];
  },
  ({ protocol, channel: id }) => {
    if (!isChatProtocol(protocol) || typeof id !== 'string') return [];
    const { accepts, allowed } = channels[protocol];
    return accepts(id) ? [] : [{ path: 'channel', message: allowed }];
  },
  // clashes.ts has mail on events without `mailPerEvent`, since a FIFO topic takes no mail at all.
  ({ topic, protocol, mailPerEvent }) => {
    const isMail = protocol === 'email' || protocol === 'email-json';
    return mailPerEvent === true && !(topic === 'events' && isMail)
      ? [{ path: 'mailPerEvent', message: "false: it is about mail on the topic 'events' only" }]
      : [];
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
            message: "none: only messages of the topic 'events' carry the attributes of a filter",
          },
        ]
      : [],
];

/** A refused subscription cannot get here. */
function given<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a setting is missing that the rules demand');
  return value;
}

export const subscription = settings
  .superRefine(
    (value, problems) => {
      for (const { path, message } of refusals.flatMap((refusal) => refusal(value)))
        problems.addIssue({ code: 'custom', path: [path], message });
    },
    { when: ({ value }) => typeof value === 'object' && value !== null },
  )
  .transform(({ topic, protocol, ...value }) => {
    const { raw, mailPerEvent, keepDays = keptFor } = value;
    const filter = value.filter && { filter: value.filter };
    const forChat = topic === 'operations' ? topic : 'alerts';
    switch (protocol) {
      case 'event-bus':
        return { topic: 'events' as const, protocol, bus: given(value.bus), ...filter };
      case 'archive':
        return { topic: 'events' as const, protocol, keepDays, ...filter };
      case 'slack': {
        const workspace = given(value.workspace);
        return { topic: forChat, protocol, workspace, channel: given(value.channel) } as const;
      }
      case 'teams': {
        const [tenant, team] = [given(value.tenant), given(value.team)];
        return { topic: forChat, protocol, tenant, team, channel: given(value.channel) } as const;
      }
      default:
        return { topic, protocol, endpoint: given(value.endpoint), raw, mailPerEvent, ...filter };
    }
  });

export type SubscriptionConfig = z.output<typeof subscription>;
/** A subscription to whose address SNS delivers by itself. */
export type AddressedConfig = Extract<SubscriptionConfig, { endpoint: unknown }>;
/** Whether the subscriber is a channel of a chat. */
export const isChat = (config: SubscriptionConfig): config is ChatConfig => 'channel' in config;

export type ChatConfig = Extract<SubscriptionConfig, { channel: string }>;
export type ArchiveConfig = Extract<SubscriptionConfig, { protocol: 'archive' }>;
export type EventBusConfig = Extract<SubscriptionConfig, { protocol: 'event-bus' }>;
export type NewQueueConfig = z.output<typeof newQueue>;
