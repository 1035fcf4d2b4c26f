import { describe, expect, it } from 'vitest';
import { maxIntegrations } from '../../../infra/config/notifier.ts';
import { describedValue } from '../../../infra/config-error.ts';
import * as some from './settings.ts';
import { changed, expectOneLine, problemsOf, subscribed, times, withQueue } from './settings.ts';

/** A setting, a part of the sentence about its allowed values, and refused and accepted values. */
type Row = readonly [
  setting: string,
  allowed: string,
  refused: readonly unknown[],
  accepted?: readonly unknown[],
];

/** Values without spaces. */
const each = (values: string) => values.trim().split(/\s+/);
const urls = (places: string, end = '/x') => each(places).map((place) => `https://${place}${end}`);

const sqsArn = 'arn:aws:sqs:us-east-1:111122223333:';
const lambdaArn = 'arn:aws:lambda:us-east-1:111122223333:function:';
const another = (index: number) => ({ ...some.district, name: `district-${index}` });

const ofNotifier: Row[] = [
  ['integrations', `1 to ${maxIntegrations} integrations`, [undefined, []]],
  ['integrations', `at most ${maxIntegrations}`, [times(maxIntegrations + 1, another)]],
  ['keyArn', 'not of an alias', ['arn:aws:kms:us-east-1:111122223333:alias/topics']],
  ['pagerTopicArn', 'the ARN of a standard SNS topic', [`${some.pagerTopicArn}.fifo`]],
  [
    'runbookUrl',
    'the https URL of a page',
    [
      ...each('http://wiki.example.org/ https://wiki.example.org/#alarms https://%%/operations'),
      ...each('https://name:word@wiki.example.org/ wiki.example.org/operations'),
      ...['https://wiki.example.org/the operations', `https://wiki.example.org/${'r'.repeat(176)}`],
    ],
  ],
  ['logRetentionDays', '1, 3, 5, 7', [31]],
  ['subscriberAccounts[1]', 'does not have yet', ['444455556666']],
  ['subscriberAccounts[0]', '12 digits', ['123']],
  ['subscriberAccounts', 'at most 50', [times(51, (index) => String(444455556000 + index))]],
  ['permissionsBoundary', 'the name or the ARN of an IAM policy', ['arn:aws:iam::1:role/y']],
  ['tags.stage', 'a tag value of 1 to 256 letters, digits, spaces and _ . : / = + - @', ['']],
  ['tags.team', 'no other tag has (upper and lower case do not count)', ['b']],
  ['tags', 'at most 50 tags', [Object.fromEntries(times(51, (index) => [`tag ${index}`, 'x']))]],
  ['stackName', 'letters, digits and hyphens', ['a.b']],
  ['alerts.quietHours.from', 'HH:MM', ['8pm']],
  ['alerts.quietHours', 'two different times', [{ from: '06:00', to: '06:00' }]],
  ['alerts.contact', 'a line of 1 to 200 characters', ['', ' a', 'a\nb', `${'a '.repeat(100)}b`]],
];

const ofIntegration: Row[] = [
  ['name', 'at most 40', ['District-A', 'district_a', 'd'.repeat(41)], ['d'.repeat(40)]],
  [
    'timeZone',
    'the partner\'s IANA time zone, such as "America/Chicago", or "UTC"; no abbreviation',
    each('America/Chikago +05:00 CST EST CST6CDT Japan SystemV/CST6'),
    each('UTC US/Central Asia/Kolkata America/Argentina/Ushuaia'),
  ],
  [
    'baseUrl',
    'an https host such as "https://partner.example.org" (http on loopback only), without path',
    each(`http://partner.example.org partner.example.org http://127.example.org
      https://partner.example.org/api/v1 https://id:word@partner.example.org`),
    each('https://partner.example.org:8443 http://127.0.0.1:3000 http://localhost http://[::1]:3'),
  ],
  ['every', 'a whole number from 1 to 60', [0, 1.5, '5', 61], [60]],
  ['silence', 'days, a whole number from 1 to 400', [0, 401], [400, false, undefined]],
  ['baseline', 'an object with atOnce', ['fan-out']],
  ['baseline.atOnce', 'a whole number from 1 to 16', [0, 17], [16]],
  ['fields', "'all', 'identifiers' or a list", ['none', []], ['identifiers', ['seid']]],
  ['fields[0]', "'assessment_name', 'certified_on', 'results'", ['emial'], ['email']],
  ['secretName', 'not the ARN', ['arn:aws:secretsmanager:us-east-1:111122223333:secret:x']],
  ['secretKeyArn', 'not of an alias', ['arn:aws:kms:us-east-1:111122223333:alias/partner']],
];

const ofQueue: Row[] = [
  ['topic', "one of 'events', 'alerts', 'operations'", ['event']],
  ['protocol', "'sqs'", ['fax']],
  ['endpoint', 'the ARN of a queue', [undefined]],
  ['mailPerEvent', "false: it is about mail (the protocols 'email' and 'email-json') only", [true]],
  ['mailPerEvent', 'true or false', ['yes'], [false, undefined]],
  [
    'endpoint',
    'the ARN of a queue, or an object with newQueue',
    each(`payroll arn:aws:sqs::111122223333:a arn:aws:sqs:us--1:111122223333:a ${sqsArn}
      ${sqsArn}${'q'.repeat(81)}`),
    [`arn:aws-us-gov:sqs:us-gov-west-1:111122223333:${'q'.repeat(80)}`, { newQueue: 'payroll' }],
  ],
];
const ofFifoQueue: Row[] = [
  ['endpoint', 'the ARN of a queue', [`${sqsArn}${'q'.repeat(76)}.fifo`], [`${sqsArn}a.fifo`]],
];
const ofNewQueue: Row[] = [
  ['endpoint.newQueue', 'lower-case letters', [undefined]],
  [
    'endpoint.readers[0]',
    'the ARN of an IAM role',
    each('payroll arn:aws:iam::111122223333:role//payroll arn:aws:iam::111122223333:role/payroll/'),
  ],
];
const ofFunction: Row[] = [
  [
    'endpoint',
    'the ARN of a function',
    [
      { newQueue: 'payroll' },
      ...each(`arn:aws:lambda::111122223333:function:a ${lambdaArn}:live ${lambdaArn}a:`),
      ...each(`${lambdaArn}${'f'.repeat(65)} ${lambdaArn}${'f'.repeat(64)}:${'v'.repeat(29)}`),
    ],
    ['arn:aws-cn:lambda:cn-north-1:111122223333:function:certifications:live'],
  ],
  ['raw', "only the protocols 'sqs' and 'https'", [true]],
  ['raw', 'true or false', ['yes'], [false, undefined]],
];
const ofMail: Row[] = [
  [
    'endpoint',
    'one e-mail address of at most 320',
    [
      ...each('office a@example.org,b@example.org a@example..org büro@example.org .a@example.org'),
      ...each(`a..b@example.org a@-example.org ${'a'.repeat(309)}@example.org`),
      'Office <office@example.org>',
    ],
    [`${'a'.repeat(308)}@example.org`],
  ],
  ['topic', "'alerts', whose digests are for people; or mailPerEvent: true", ['events']],
  ['filter', "only messages of the topic 'events'", [{ late: true }]],
];

const secret = '/xYz9AbCdEfGh1234IjKl5678';
const noHook = (chat: string, protocol: string) =>
  `one of ${chat} does not confirm a subscription, and shows nothing that SNS sends: the protocol '${protocol}' tells a channel`;
const ofWebhook: Row[] = [
  [
    'endpoint',
    'of a host on the internet',
    urls(`localhost localhost. 127.0.0.1:8443 2130706433 [::1] 0.0.0.0 10.1.2.3 172.16.0.1
      172.31.255.255 192.168.1.1:8443 100.64.0.1 169.254.169.254 [fe80::1] [fd00:ec2::254]
      [::ffff:10.0.0.1]`),
    urls('8.8.8.8 172.32.0.1 [2001:4860:4860::8888] hook.example.org:8443'),
  ],
  [
    'endpoint',
    'an https URL of at most 2048',
    ['http://hook.example.org/x', ...urls(`${'h'.repeat(250)}.org %% a.org/${'x'.repeat(2_048)}`)],
    urls(`example.org/${'x'.repeat(2_026)}`),
  ],
  [
    'endpoint',
    noHook('Slack', 'slack'),
    urls(
      `hooks.slack.com/services/T0AB/B0CD HOOKS.slack-gov.com:443/services/T0AB/B0CD
      hooks.slack.com./services/T0AB/B0CD`,
      secret,
    ),
    urls('slack.example.org/services hooks.slack.com.example.org/services'),
  ],
  [
    'endpoint',
    noHook('Microsoft Teams', 'teams'),
    urls(
      `district.webhook.office.com/webhookb2 outlook.office.com/webhook/1/IncomingWebhook
      prod-12.westus.logic.azure.com.:8443/workflows prod-12.usgovvirginia.logic.azure.us/workflows
      prod-12.chinanorth.logic.azure.cn/workflows a.api.powerplatform.com/powerautomate/workflows
      a.api.gov.powerplatform.microsoft.us/workflows a.api.appsplatform.us/workflows
      a.api.powerplatform.partner.microsoftonline.cn/workflows`,
      secret,
    ),
    urls(`outlook.office.com/calendar logic.azure.com.example.org/workflows
      api.powerplatform.example.org`),
  ],
];

const numbers = (count: number) => times(count, (index) => index + 1);
const ofFilter: Row[] = [
  ['', 'at least one of types, organizations', [{}]],
  [
    '',
    'at most 150 combinations, not 152 ',
    [{ types: ['created', 'updated'], organizations: numbers(76) }],
    [{ types: ['created', 'updated'], organizations: numbers(75) }],
  ],
  ['.organizations', 'at most 150', [numbers(151)]],
  ['.organizations[2]', 'does not have yet', [7]],
  ['.organizations[0]', 'a whole number from 1 to 1000000000', ['Larkspur', 1_000_000_001]],
  [
    '.assessments[0]',
    'an assessment name, exactly as the partner shows it, at most 256 characters',
    ['Rope '.repeat(60), 'CPR \ud800', '\udc00', 'CPR\ufffe', 'CPR\uffff', 'CPR\u0000'],
    ['Säker 🪢', '救命講習\ufffd'],
  ],
];

const ofBus: Row[] = [
  [
    'bus',
    "'default' or the name of an event bus of the account and region that is deployed to (a pipe reaches no other: let a rule on that bus pass the events on); not a partner's",
    [
      ...[undefined, 'a bus', '', 'x'.repeat(257)],
      ...each('arn:aws:events:us-east-1:444455556666:event-bus/a aws.partner-example.com-1 a/x'),
    ],
    ['default', 'a.b_c-1', 'x'.repeat(256)],
  ],
  ['topic', "'events': a bus is for machines", ['alerts', 'operations']],
];
const ofArchive: Row[] = [
  ['keepDays', 'days, a whole number from 1 to 3653', [0, -1, 1.5, 3_654, '90'], [1]],
  ['topic', "'events': an archive is for events", ['alerts', 'operations']],
];

const forPeople = "'alerts' or 'operations': a channel is for people, and events are for machines";
const ofSlack: Row[] = [
  ['topic', forPeople, ['events']],
  ['workspace', "the ID of a Slack workspace, such as 'T0123ABCD'", [undefined, 'district-a']],
  [
    'channel',
    "the ID of a Slack channel, such as 'C0123ABCD' (not its name)",
    [undefined, ...each('#alerts alerts U0123ABCD c0123abcd'), some.teams.channel],
    ['G0123ABCD'],
  ],
  ['filter', "none: only messages of the topic 'events'", [{ types: ['created'] }]],
];
const ofTeams: Row[] = [
  ['topic', forPeople, ['events']],
  ['tenant', 'the ID of a Teams tenant, a UUID', [undefined, 'district-a.example.org']],
  ['team', 'the ID of a Teams team, a UUID', [undefined, 'district-a.example.org']],
  [
    'channel',
    "the ID of a Teams channel, encoded as in the link to the channel: the part between /channel/ and the next /, such as '19%3A…%40thread.tacv2'",
    [undefined, 19, ...each('C0123ABCD 19:ab1c2d@thread.tacv2 19%3Aab1c2d@thread.tacv2 General')],
  ],
];

const quietHours = { from: '20:00', to: '06:00' };
const notifier = {
  ...{ integrations: [some.district], alerts: { quietHours }, tags: { Team: 'a' } },
  subscriberAccounts: ['444455556666'],
};
const baseline = { atOnce: 1 };
const integration = some.withDistrict({ baseline, fields: ['seid'], secretName: 'partner' });
const fifo = { ...withQueue({}), topic: 'fifo' };
const { addresses } = some;
const by = (topic: string, protocol: keyof typeof addresses) =>
  withQueue({ topic, protocol, endpoint: addresses[protocol] });
const newQueue = withQueue({
  endpoint: { newQueue: 'payroll', readers: ['arn:aws:iam::111122223333:user/a'] },
});
const filtered = withQueue({
  filter: { types: ['created'], organizations: [7, 8], assessments: ['CPR'] },
});

describe.each<[string, config: object, place: string, Row[]]>([
  ['a notifier', notifier, '', ofNotifier],
  ['an integration', integration, 'integrations[0].', ofIntegration],
  ['a queue', withQueue({}), 'subscriptions[0].', ofQueue],
  ['a queue of a FIFO topic', fifo, 'subscriptions[0].', ofFifoQueue],
  ['a new queue', newQueue, 'subscriptions[0].', ofNewQueue],
  ['a function', by('events', 'lambda'), 'subscriptions[0].', ofFunction],
  ['an e-mail address', by('alerts', 'email'), 'subscriptions[0].', ofMail],
  ['a webhook', by('alerts', 'https'), 'subscriptions[0].', ofWebhook],
  ['a filter', filtered, 'subscriptions[0].filter', ofFilter],
  ['an event bus', subscribed(some.bus), 'subscriptions[0].', ofBus],
  ['an archive', subscribed(some.archive), 'subscriptions[0].', ofArchive],
  ['a channel of Slack', subscribed(some.slack), 'subscriptions[0].', ofSlack],
  ['a channel of Teams', subscribed(some.teams), 'subscriptions[0].', ofTeams],
])('of %s,', (_, config, place, rows) => {
  const values = rows.flatMap(([setting, allowed, wrong]) =>
    wrong.map((value) => [`${place}${setting}`, describedValue(value), allowed, value] as const),
  );
  it.each(values)('%s: %s is refused in one line; allowed: %s', (path, found, allowed, value) => {
    const input = changed(config, path, value);
    expectOneLine(input, `${path}: ${found} found; allowed: `, allowed);
    expect(new Set(problemsOf(input)[0]?.match(/Slack|Teams/g)).size).toBeLessThan(2);
  });

  it('right values are accepted', () => {
    expect(problemsOf(config)).toEqual([]);
    for (const [setting, , , right = []] of rows)
      for (const value of right)
        expect(problemsOf(changed(config, `${place}${setting}`, value)), `${value}`).toEqual([]);
  });
});

const announced = (since: string) => some.withDistrict({ announce: { since } });

it.each<[input: unknown, line: string, allowed: string]>([
  [undefined, 'the configuration: nothing found', 'an object with integrations'],
  [{ ...notifier, retention: 5 }, 'retention: unknown setting', 'logRetentionDays'],
  [some.withDistrict({ evry: 5 }), '[0].evry: unknown setting', 'an object with name, baseUrl'],
  [
    withQueue({ endpoint: { newQueue: 'payroll', retries: 3 } }),
    'subscriptions[0].endpoint.retries: unknown setting',
    'newQueue, readers, visibilityTimeout, attempts',
  ],
  [
    subscribed({ ...some.archive, storageClass: 'GLACIER' }),
    'subscriptions[0].storageClass: unknown setting',
    'an object with topic, protocol, keepDays, raw, mailPerEvent, filter',
  ],
  [{ ...notifier, tags: { ' ': 'x' } }, 'tags. : not usable as a name', 'a tag key'],
  [{ ...notifier, tags: { 'aws:x': 'y' } }, 'tags.aws:x: not usable', 'not start with "aws:"'],
  [announced('2999-01-01'), 'announce.since: "2999-01-01" found', 'a day, YYYY-MM-DD, not after'],
  [announced('2026-02-30'), 'announce.since: "2026-02-30" found', 'a day, YYYY-MM-DD, not after'],
])('%j is refused: %s', expectOneLine);

it.each([
  [by('alerts', 'lambda'), 'only'],
  [by('operations', 'https'), 'only'],
  [subscribed(some.slack), 'only'],
  [subscribed(some.teams), 'only'],
  [by('alerts', 'email'), "on the topic 'events' only"],
])('mail for each event, which %j cannot have, is refused in one line', (config, only) => {
  const path = 'subscriptions[0].mailPerEvent';
  expectOneLine(
    changed(config, path, true),
    `${path}: true found; allowed: false: it is about mail`,
    only,
  );
});

const addressed = "'sqs', 'lambda', 'https', 'email', 'email-json'";
it.each<[config: object, setting: string, value: unknown, of: string]>([
  [withQueue({}), 'bus', 'default', "'event-bus'"],
  [subscribed(some.bus), 'keepDays', 90, "'archive'"],
  [subscribed(some.bus), 'endpoint', 'a', addressed],
  [subscribed(some.archive), 'channel', 'a', "'slack', 'teams'"],
  [subscribed(some.slack), 'tenant', 'a', "'teams'"],
])(
  '%j refuses %s, a setting of another protocol, unless it is undefined',
  (config, setting, value, of) => {
    const path = `subscriptions[0].${setting}`;
    expect(problemsOf(changed(config, path, value))).toEqual([
      `${path}: ${describedValue(value)} found; allowed: none: it is a setting of ${of}`,
    ]);
    expect(problemsOf(changed(config, path, undefined))).toEqual([]);
  },
);

it('each setting that a protocol does not have is refused in a line of its own', () => {
  const foreign = { bus: 'x', keepDays: 3, workspace: 'a', tenant: 'a', team: 'a' };
  const at = 'subscriptions[0].';
  expect(problemsOf(withQueue({ ...foreign, colour: 'red' }))).toEqual([
    `${at}bus: "x" found; allowed: none: it is a setting of 'event-bus'`,
    `${at}keepDays: 3 found; allowed: none: it is a setting of 'archive'`,
    `${at}workspace: "a" found; allowed: none: it is a setting of 'slack'`,
    `${at}tenant: "a" found; allowed: none: it is a setting of 'teams'`,
    `${at}team: "a" found; allowed: none: it is a setting of 'teams'`,
    `${at}colour: unknown setting; allowed: an object with topic, protocol, endpoint, raw, mailPerEvent, filter`,
  ]);
});

it('beside a wrong protocol, wrong settings that all protocols share are refused, and no others', () => {
  const shared = { topic: 'event', colour: 'red', raw: 'yes', filter: { late: 7 } };
  const config = withQueue({ ...shared, protocol: 'fax', endpoint: 7, bus: 'x', team: 'a' });
  const at = 'subscriptions[0].';
  expect(problemsOf(config)).toEqual([
    expect.stringMatching(/^subscriptions\[0\]\.protocol: "fax" found; allowed: one of 'sqs', /),
    `${at}topic: "event" found; allowed: one of 'events', 'alerts', 'operations'`,
    `${at}raw: "yes" found; allowed: true or false`,
    `${at}filter.late: 7 found; allowed: true or false`,
    expect.stringMatching(/colour: unknown setting; allowed: an object with topic, .*, filter$/),
  ]);
});

it('an undefined setting of another protocol is no setting', () => {
  const nothing = { channel: undefined, endpoint: undefined, bus: undefined, team: undefined };
  const config = subscribed(
    ...[
      { ...nothing, ...some.queue },
      { ...nothing, ...some.archive },
    ],
    ...[
      { ...nothing, ...some.bus },
      { ...nothing, ...some.teams },
    ],
    { ...nothing, ...some.queue, topic: 'alerts' },
  );
  expect(problemsOf(config)).toEqual([]);
});
