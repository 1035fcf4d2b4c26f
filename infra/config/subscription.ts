import * as z from 'zod';
import { filter } from './filter.ts';
import {
  absent,
  anyObject,
  arn,
  fitsOrIsDeferred,
  flag,
  isAbsent,
  isUnrouted,
  list,
  name,
  oneOf,
  record,
  shortName,
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

const address = text(
  `one e-mail address of at most ${maxMail} characters, all of them ASCII`,
  // RFC 5322's dot-atom, and host names. Which other forms SNS takes is not documented.
  (value) =>
    value.length <= maxMail &&
    /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z\d]([a-z\d-]*[a-z\d])?$/i.test(
      value,
    ),
);

const isOnTheInternet = (value: string) =>
  value.length <= maxUrl &&
  /^https:\/\/[^\s/@]+(\/\S*)?$/.test(value) &&
  URL.canParse(value) &&
  new URL(value).hostname.length <= maxHost &&
  !isUnrouted(value);

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

const webhook = text(
  `an https URL of at most ${maxUrl} characters, of a host on the internet`,
  isOnTheInternet,
).superRefine((url, problems) => {
  if (!isOnTheInternet(url)) return;
  const { hostname, pathname } = new URL(url);
  // A host name may end with the dot of DNS's root, and any port is the same chat's.
  const host = hostname.replace(/\.$/, '');
  const chat = chatHooks.find(({ hook }) => hook.test(`${host}${pathname}`));
  if (chat)
    problems.addIssue({
      code: 'custom',
      message: `a webhook of your own; one of ${chat.name} does not confirm a subscription, and shows nothing that SNS sends: the protocol '${chat.protocol}' tells a channel`,
    });
});

/** SQS's limit for a queue's policy: 50 principals. Two are the topic and everybody, who is denied plain HTTP. */
export const maxReaders = 48;

/** A queue that the stack makes for a subscriber. */
const newQueue = record({
  newQueue: shortName.describe(
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

const endpointOfQueue = "the ARN of a queue, or an object with newQueue: the new queue's name";
const queue = z
  .union([text(endpointOfQueue, fits(arn('sqs', /([\w-]{1,80}|[\w-]{1,75}\.fifo)/))), newQueue], {
    error: endpointOfQueue,
  })
  .meta({ allowed: endpointOfQueue });

const lambda = text(
  `the ARN of a function, of at most ${maxFunction} characters`,
  (value) =>
    value.length <= maxFunction &&
    arn('lambda', /function:[\w-]{1,64}(:[\w-]{1,128})?/).test(value),
);

/** "Event bus names" in the EventBridge API reference, without the buses of partners. */
const bus = name(
  "'default' or the name of an event bus of the account and region that is deployed to (a pipe reaches no other: let a rule on that bus pass the events on); not a partner's, to which only the partner sends",
  fits(/^(?!aws\.)[\w.-]{1,256}$/),
);

/** An ID of Microsoft. It is no secret. UUIDs mean the same in capitals. */
const uuid = (what: string) =>
  text(
    `the ID of a Teams ${what}, a UUID`,
    fits(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i),
  ).transform((id) => id.toLowerCase());

const teamsChannel = text(
  "the ID of a Teams channel, encoded as in the link to the channel: the part between /channel/ and the next /, such as '19%3A…%40thread.tacv2'",
  fits(/^[\w=+/.,-]{1,100}%3a[\w=+/.,-]{1,200}%40[\w=+/.,-]{1,100}$/i),
  // Escapes and host names mean the same in capitals; the middle may not.
).transform((id) => id.replace(/%3a/i, '%3A').replace(/%40.*$/, (host) => host.toLowerCase()));

const topic = <const T extends readonly string[]>(values: T, allowed?: string) =>
  oneOf(values, allowed).describe(
    '`events`: one message each, for machines. `alerts`: a digest a tick, for people. `operations`: alarms and notices, for ops.',
  );
const anyTopic = topic(['events', 'alerts', 'operations']);
const forPeople = topic(
  ['alerts', 'operations'],
  "'alerts' or 'operations': a channel is for people, and events are for machines",
);

const protocol = <const T extends string>(name: T) =>
  z
    .literal(name)
    .describe(
      '`slack` and `teams`: messages in a channel, by Amazon Q Developer in chat applications (`docs/operations.md#chat`). `event-bus`: events on an EventBridge bus (`docs/subscribing.md#an-eventbridge-bus`). `archive`: events in a bucket (`docs/subscribing.md#an-archive`). An e-mail address and an https URL have to confirm before they get anything. SNS switches off an e-mail subscription that gets more than ten messages a second: mail belongs on `alerts` and `operations`.',
    );

/** A setting that has an effect with others only: here, it may be absent or off. */
const off = (allowed: string) =>
  z
    .literal(false, {
      error: ({ input }) => (input === true ? `false: ${allowed}` : 'true or false'),
    })
    .optional();
/** A setting of others: any value is refused. With `undefined`, it is not set. */
const elsewhere = (key: string) =>
  absent(() => `none: it is a setting of ${protocolsWith(key).join(', ')}`);

/** Every setting of every protocol, in the order of the page. A member has those that differ with its protocol. */
const settings = {
  topic: anyTopic,
  protocol: z.string(),
  endpoint: elsewhere('endpoint'),
  bus: elsewhere('bus'),
  keepDays: elsewhere('keepDays'),
  workspace: elsewhere('workspace'),
  tenant: elsewhere('tenant'),
  team: elsewhere('team'),
  channel: elsewhere('channel'),
  raw: off("only the protocols 'sqs' and 'https' know raw messages"),
  mailPerEvent: off("it is about mail (the protocols 'email' and 'email-json') only"),
  filter: filter
    .optional()
    .describe(
      'The events that the subscriber gets; without it, all. A list matches any of its values, and all settings have to match. SNS allows 150 combinations of values in one filter.',
    ),
};
const raw = flag()
  .default(false)
  .describe(
    "`true`: a message is the event itself, without SNS's envelope; its attributes are those of the SQS message. A raw message carries no signature: a webhook on the internet should take the envelope and verify it.",
  );
const mailPerEvent = flag()
  .default(false)
  .describe(
    'On `events` only. `true`: one mail for each event is wanted. Each mail holds the event as JSON. More than ten mails a second, as in a busy minute, make SNS switch the subscription off. People want the digests of `alerts`.',
  );
const to = <T extends z.ZodType>(endpoint: T) =>
  endpoint.describe('The address of the subscriber.');

const member = <T extends { readonly protocol: z.ZodType } & z.ZodRawShape>(own: T) =>
  record(settings).extend(own);
const mail = <const T extends string>(name: T) =>
  member({ protocol: protocol(name), endpoint: to(address), mailPerEvent });

/** One member a protocol. A combination that no member has is refused. */
const members = [
  member({ protocol: protocol('sqs'), endpoint: to(queue), raw }),
  member({ protocol: protocol('lambda'), endpoint: to(lambda) }),
  member({ protocol: protocol('https'), endpoint: to(webhook), raw }),
  mail('email'),
  mail('email-json'),
  member({
    topic: topic(['events'], "'events': a bus is for machines"),
    protocol: protocol('event-bus'),
    bus,
  }),
  member({
    topic: topic(['events'], "'events': an archive is for events"),
    protocol: protocol('archive'),
    keepDays: whole('days', 1, 3_653)
      .default(731)
      .describe('An event is deleted after so many days; the default is two years.'),
  }),
  member({
    topic: forPeople,
    protocol: protocol('slack'),
    workspace: text("the ID of a Slack workspace, such as 'T0123ABCD'", fits(/^T[0-9A-Z]{2,254}$/)),
    channel: text(
      "the ID of a Slack channel, such as 'C0123ABCD' (not its name)",
      fits(/^[CG][0-9A-Z]{2,254}$/),
    ),
  }),
  member({
    topic: forPeople,
    protocol: protocol('teams'),
    tenant: uuid('tenant'),
    team: uuid('team'),
    channel: teamsChannel,
  }),
] as const;
const quoted = ({ shape }: (typeof members)[number]) => `'${shape.protocol.value}'`;

function protocolsWith(key: string): readonly string[] {
  return members
    .filter(({ shape }) =>
      Object.entries(shape).some(([own, schema]) => own === key && !isAbsent(schema)),
    )
    .map(quoted);
}

/** Judges the settings that all protocols share. */
const ofUnknownProtocol = record({
  ...Object.fromEntries(Object.keys(settings).map((name) => [name, z.unknown().optional()])),
  ...{ topic: anyTopic, raw, mailPerEvent, filter: settings.filter },
});

export const subscription = z
  .discriminatedUnion('protocol', members, {
    error: ({ code }) =>
      code === 'invalid_union'
        ? `one of ${members.map(quoted).join(', ')}`
        : 'an object with topic, protocol and its settings',
  })
  .superRefine((value, problems) => {
    const { topic, protocol, mailPerEvent, filter } = value;
    if (members.every(({ shape }) => shape.protocol.value !== protocol)) {
      for (const issue of ofUnknownProtocol.safeParse(value).error?.issues ?? [])
        problems.addIssue({ ...issue });
    }
    const refuse = (path: string, message: string) =>
      problems.addIssue({ code: 'custom', path: [path], message });
    if (!forPeople.options.some((one) => one === topic)) return;
    const isMail = protocol === 'email' || protocol === 'email-json';
    if (isMail && mailPerEvent === true)
      refuse('mailPerEvent', "false: it is about mail on the topic 'events' only");
    if (filter !== undefined)
      refuse(
        'filter',
        "none: only messages of the topic 'events' carry the attributes of a filter",
      );
  }, anyObject);

export type SubscriptionConfig = z.output<typeof subscription>;
/** A subscription to whose address SNS delivers by itself. */
export type AddressedConfig = Extract<SubscriptionConfig, { endpoint: unknown }>;
export type ChatConfig = Extract<SubscriptionConfig, { channel: string }>;
export type ArchiveConfig = Extract<SubscriptionConfig, { protocol: 'archive' }>;
export type EventBusConfig = Extract<SubscriptionConfig, { protocol: 'event-bus' }>;
export type NewQueueConfig = z.output<typeof newQueue>;

/** Whether the subscriber is a channel of a chat. */
export const isChat = (config: SubscriptionConfig): config is ChatConfig =>
  config.channel !== undefined;

/** The same for each topic of a channel. The tenant does not count: a team belongs to one. */
export const placeOf = (config: ChatConfig): string =>
  config.protocol === 'slack'
    ? `slack ${config.workspace} ${config.channel}`
    : `teams ${config.team} ${config.channel}`;

/** A queue that the stack makes for the subscriber. */
export const newQueueOf = (config: SubscriptionConfig): NewQueueConfig | undefined =>
  config.protocol === 'sqs' && typeof config.endpoint === 'object' ? config.endpoint : undefined;
