import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { defaultClaim } from '../../consumer/handling.ts';
import { maxIntegrations } from '../../infra/config/limits.ts';
import { parseConfig } from '../../infra/config.ts';
import { ConfigError } from '../../infra/config-error.ts';
import { assessmentSchema } from '../../lambda/events/assessment.ts';
import { assessmentFields } from '../../lambda/names.ts';

const district = {
  name: 'district-a',
  baseUrl: 'https://platform.example.org',
  timeZone: 'America/Chicago',
};
const queue = {
  topic: 'events',
  protocol: 'sqs',
  endpoint: 'arn:aws:sqs:us-east-1:111122223333:certifications',
};

const addresses = {
  email: 'office@district-a.example.org',
  'email-json': 'office@district-a.example.org',
  https: 'https://hook.example.org/x',
  lambda: 'arn:aws:lambda:us-east-1:111122223333:function:certifications',
};

const withDistrict = (settings: object) => ({ integrations: [{ ...district, ...settings }] });
const withQueue = (settings: object) => ({
  integrations: [district],
  subscriptions: [{ ...queue, ...settings }],
});
const withFilter = (filter: unknown) => withQueue({ filter });

function problemsOf(input: unknown): readonly string[] {
  try {
    parseConfig(input);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('a good configuration', () => {
  it('needs one integration with a name, a host and a time zone; the rest has defaults', () => {
    expect(parseConfig({ integrations: [district] })).toEqual({
      stackName: 'certification-notifier',
      integrations: [
        {
          ...district,
          every: 1,
          recentDays: 3,
          tokenRequest: 'form',
          audit: { recentMinutes: 15, historyHours: 24, requestsPerTick: 20 },
          holdAbove: 500,
          announce: 'none',
          baseline: 'tick',
          fields: 'all',
        },
      ],
      subscriptions: [],
      topic: 'standard',
      alerts: { detail: 'names', maxRows: 60 },
      subscriberAccounts: [],
      logRetentionDays: 30,
      dashboard: true,
      terminationProtection: true,
      tags: {},
    });
  });

  it.each([
    ['https://platform.example.org/', 'https://platform.example.org'],
    ['https://platform.example.org:8443', 'https://platform.example.org:8443'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('may name the host %s', (baseUrl, origin) => {
    expect(parseConfig(withDistrict({ baseUrl })).integrations[0]?.baseUrl).toBe(origin);
  });

  it('may choose any field that the document names', () => {
    expect([...assessmentFields]).toEqual(Object.keys(assessmentSchema.shape));
    for (const field of assessmentFields)
      expect(problemsOf(withDistrict({ fields: [field] }))).toEqual([]);
    expect(problemsOf(withDistrict({ fields: 'identifiers' }))).toEqual([]);
  });

  it('may have a queue made, with defaults that suit most', () => {
    const { subscriptions } = parseConfig(withQueue({ endpoint: { newQueue: 'payroll' } }));
    expect(subscriptions).toEqual([
      {
        ...queue,
        endpoint: { newQueue: 'payroll', visibilityTimeout: 90, attempts: 5 },
        raw: false,
      },
    ]);
  });

  it('may have a queue made, whose messages outlive the claim of a worker that died', () => {
    const { subscriptions } = parseConfig(withQueue({ endpoint: { newQueue: 'payroll' } }));
    const [made] = subscriptions.map(({ endpoint }) => endpoint);
    const { visibilityTimeout, attempts } = Object(made);
    const claim = Temporal.Duration.from(defaultClaim).total('seconds');
    // The last receive is still to come when the claim has run out, with a minute for a batch.
    expect(visibilityTimeout * (attempts - 1)).toBeGreaterThanOrEqual(claim + 60);
  });

  it.each([queue.endpoint, `${queue.endpoint}.fifo`, { newQueue: 'payroll' }])(
    'may bring a FIFO topic to the queue %s',
    (endpoint) => {
      expect(problemsOf({ ...withQueue({ endpoint }), topic: 'fifo' })).toEqual([]);
    },
  );

  it('may have mail and functions beside a FIFO topic of events', () => {
    for (const protocol of ['email', 'https', 'lambda'] as const)
      expect(
        problemsOf({
          ...withQueue({ topic: 'alerts', protocol, endpoint: addresses[protocol] }),
          topic: 'fifo',
        }),
      ).toEqual([]);
  });

  it('may collect digests and keep the night quiet', () => {
    const alerts = { digestEvery: 30, quietHours: { from: '20:00', to: '06:30' } };
    expect(parseConfig({ integrations: [district], alerts }).alerts).toEqual({
      detail: 'names',
      maxRows: 60,
      ...alerts,
    });
  });

  it.each([
    ['sqs', `arn:aws-us-gov:sqs:us-gov-west-1:111122223333:${'q'.repeat(80)}`],
    ['lambda', 'arn:aws-cn:lambda:cn-north-1:111122223333:function:certifications:live'],
    ['email', `${'a'.repeat(308)}@example.org`],
    ['https', `https://example.org/${'x'.repeat(2_028)}`],
  ])('may tell by %s what is as long as AWS takes', (protocol, endpoint) => {
    expect(problemsOf(withQueue({ protocol, endpoint }))).toEqual([]);
  });

  it('may filter by any name that can be sent', () => {
    expect(problemsOf(withFilter({ assessments: ['Säker 🪢', '救命講習\ufffd'] }))).toEqual([]);
  });

  it('may filter by as many values as SNS takes', () => {
    const organizations = Array.from({ length: 75 }, (_, index) => index + 1);
    expect(problemsOf(withFilter({ types: ['created', 'updated'], organizations }))).toEqual([]);
  });
});

describe('a wrong setting is named with its place, what was found and what is allowed', () => {
  it.each<[string, unknown, string, string]>([
    [
      'no configuration',
      undefined,
      'the configuration: nothing found',
      'an object with integrations',
    ],
    ['no integrations', {}, 'integrations: nothing found', `1 to ${maxIntegrations} integrations`],
    [
      'an empty list',
      { integrations: [] },
      'integrations: a list of 0 found',
      `1 to ${maxIntegrations}`,
    ],
    [
      'too many integrations',
      {
        integrations: Array.from({ length: maxIntegrations + 1 }, (_, index) => ({
          ...district,
          name: `district-${index}`,
        })),
      },
      `integrations: a list of ${maxIntegrations + 1} found`,
      `at most ${maxIntegrations}`,
    ],
    [
      'an upper-case name',
      withDistrict({ name: 'District-A' }),
      'integrations[0].name: "District-A"',
      'lower-case',
    ],
    [
      'a name with an underscore',
      withDistrict({ name: 'district_a' }),
      'integrations[0].name: "district_a"',
      'lower-case',
    ],
    [
      'a long name',
      withDistrict({ name: 'd'.repeat(41) }),
      'integrations[0].name: "ddd',
      'at most 40',
    ],
    [
      'an unknown time zone',
      withDistrict({ timeZone: 'America/Chikago' }),
      'integrations[0].timeZone: "America/Chikago" found',
      'IANA time zone',
    ],
    [
      'an offset for a zone',
      withDistrict({ timeZone: '+05:00' }),
      'integrations[0].timeZone: "+05:00" found',
      'IANA time zone',
    ],
    [
      'http',
      withDistrict({ baseUrl: 'http://platform.example.org' }),
      'integrations[0].baseUrl: "http://platform.example.org" found',
      'https host',
    ],
    [
      'http on a host that only looks like loopback',
      withDistrict({ baseUrl: 'http://127.example.org' }),
      'integrations[0].baseUrl:',
      'on loopback only',
    ],
    [
      'a path',
      withDistrict({ baseUrl: 'https://platform.example.org/api/v1' }),
      'integrations[0].baseUrl: "https://platform.example.org/api/v1" found',
      'without path',
    ],
    [
      'a host without a scheme',
      withDistrict({ baseUrl: 'platform.example.org' }),
      'integrations[0].baseUrl: "platform.example.org" found',
      'https host',
    ],
    [
      'zero minutes',
      withDistrict({ every: 0 }),
      'integrations[0].every: 0 found',
      'a whole number from 1 to 60',
    ],
    [
      'half minutes',
      withDistrict({ every: 1.5 }),
      'integrations[0].every: 1.5 found',
      'a whole number from 1 to 60',
    ],
    [
      'minutes as text',
      withDistrict({ every: '5' }),
      'integrations[0].every: "5" found',
      'a whole number from 1 to 60',
    ],
    [
      'a month of recent days',
      withDistrict({ recentDays: 31 }),
      'integrations[0].recentDays: 31 found',
      'from 1 to 30',
    ],
    [
      'another token request',
      withDistrict({ tokenRequest: 'header' }),
      'integrations[0].tokenRequest: "header" found',
      "one of 'form', 'basic', 'json'",
    ],
    [
      'another reader of the baseline',
      withDistrict({ baseline: 'state-machine' }),
      'integrations[0].baseline: "state-machine" found',
      "'tick', 'fan-out' or an object with atOnce",
    ],
    [
      'no stretch at once',
      withDistrict({ baseline: { atOnce: 0 } }),
      'integrations[0].baseline.atOnce: 0 found',
      'a whole number from 1 to 40',
    ],
    [
      'a fan-out that is to be announced',
      withDistrict({ baseline: 'fan-out', announce: { since: '2026-11-01' } }),
      'integrations[0].announce: an object found',
      "'none' beside `baseline`",
    ],
    [
      'another choice of fields',
      withDistrict({ fields: 'none' }),
      'integrations[0].fields: "none" found',
      "'all', 'identifiers' or a list",
    ],
    [
      'no fields',
      withDistrict({ fields: [] }),
      'integrations[0].fields: a list of 0 found',
      "'all', 'identifiers' or a list",
    ],
    [
      'a field that the document does not name',
      withDistrict({ fields: ['seid', 'emial'] }),
      'integrations[0].fields[1]: "emial" found',
      "'organization_name', 'assessment_name', 'certified_on', 'results'",
    ],
    [
      'another kind of topic',
      { integrations: [district], topic: 'FIFO' },
      'topic: "FIFO" found',
      "one of 'standard', 'fifo'",
    ],
    [
      'a digest of no rows',
      { integrations: [district], alerts: { maxRows: 0 } },
      'alerts.maxRows: 0 found',
      'a whole number from 1 to 1000',
    ],
    [
      'a digest of days',
      { integrations: [district], alerts: { digestEvery: 2_880 } },
      'alerts.digestEvery: 2880 found',
      'a whole number from 1 to 1440',
    ],
    [
      'a detail that no digest has',
      { integrations: [district], alerts: { detail: 'all' } },
      'alerts.detail: "all" found',
      "one of 'names', 'counts'",
    ],
    [
      'a time of day without minutes',
      { integrations: [district], alerts: { quietHours: { from: '8pm', to: '06:00' } } },
      'alerts.quietHours.from: "8pm" found',
      'HH:MM',
    ],
    [
      'quiet hours that never begin',
      { integrations: [district], alerts: { quietHours: { from: '06:00', to: '06:00' } } },
      'alerts.quietHours: an object found',
      'two different times',
    ],
    [
      'an ARN for a secret name',
      withDistrict({ secretName: 'arn:aws:secretsmanager:us-east-1:111122223333:secret:x' }),
      'integrations[0].secretName:',
      'not the ARN',
    ],
    [
      'an unknown setting',
      withDistrict({ evry: 5 }),
      'integrations[0].evry: unknown setting',
      'an object with name, baseUrl, timeZone',
    ],
    [
      'an unknown setting at the top',
      { integrations: [district], retention: 5 },
      'retention: unknown setting',
      'logRetentionDays',
    ],
    [
      'an unknown topic',
      withQueue({ topic: 'event' }),
      'subscriptions[0].topic: "event" found',
      "one of 'events', 'alerts', 'operations'",
    ],
    [
      'an unknown protocol',
      withQueue({ protocol: 'fax' }),
      'subscriptions[0].protocol: "fax" found',
      "'sqs'",
    ],
    [
      'a queue that is no ARN',
      withQueue({ endpoint: 'certifications' }),
      'subscriptions[0].endpoint: "certifications" found',
      'the ARN of a queue, or an object with newQueue',
    ],
    [
      'a FIFO queue',
      withQueue({ endpoint: `${queue.endpoint}.fifo` }),
      'subscriptions[0].endpoint:',
      'a FIFO queue cannot',
    ],
    [
      'a FIFO queue for people, whatever the kind of the events topic',
      { ...withQueue({ topic: 'alerts', endpoint: `${queue.endpoint}.fifo` }), topic: 'fifo' },
      'subscriptions[0].endpoint:',
      'a FIFO queue cannot',
    ],
    ...(['email', 'email-json', 'https', 'lambda'] as const).map(
      (protocol): [string, unknown, string, string] => [
        `a FIFO topic's events by ${protocol}`,
        { ...withQueue({ protocol, endpoint: addresses[protocol] }), topic: 'fifo' },
        `subscriptions[0].protocol: "${protocol}" found`,
        'a FIFO topic delivers to queues only',
      ],
    ),
    [
      'a new queue that is no queue',
      withQueue({ protocol: 'lambda', endpoint: { newQueue: 'payroll' } }),
      'subscriptions[0].endpoint: an object found',
      'the ARN of a function',
    ],
    [
      'a new queue without a name',
      withQueue({ endpoint: {} }),
      'subscriptions[0].endpoint.newQueue: nothing found',
      'lower-case letters',
    ],
    [
      'a setting that a new queue does not have',
      withQueue({ endpoint: { newQueue: 'payroll', retries: 3 } }),
      'subscriptions[0].endpoint.retries: unknown setting',
      'newQueue, readers, visibilityTimeout, attempts',
    ],
    ...[
      'arn:aws:sqs::111122223333:certifications',
      'arn:aws:sqs:us--1:111122223333:certifications',
      'arn:aws:sqs:us-east-1:111122223333:',
      `arn:aws:sqs:us-east-1:111122223333:${'q'.repeat(81)}`,
      `arn:aws:sqs:us-east-1:111122223333:${'q'.repeat(76)}.fifo`,
    ].map((endpoint): [string, unknown, string, string] => [
      `the queue ${endpoint}`,
      { ...withQueue({ endpoint }), topic: 'fifo' },
      'subscriptions[0].endpoint:',
      'the ARN of a queue',
    ]),
    ...[
      'arn:aws:lambda::111122223333:function:certifications',
      'arn:aws:lambda:us-east-1:111122223333:function::live',
      'arn:aws:lambda:us-east-1:111122223333:function:certifications:',
      `arn:aws:lambda:us-east-1:111122223333:function:${'f'.repeat(65)}`,
    ].map((endpoint): [string, unknown, string, string] => [
      `the function ${endpoint}`,
      withQueue({ protocol: 'lambda', endpoint }),
      'subscriptions[0].endpoint:',
      'the ARN of a function',
    ]),
    ...[
      'a@example.org,b@example.org',
      'a@example.org;b',
      'Office <office@example.org>',
      'a@example..org',
      'a@example.org.',
      `${'a'.repeat(309)}@example.org`,
    ].map((endpoint): [string, unknown, string, string] => [
      `the mail address ${endpoint}`,
      withQueue({ topic: 'alerts', protocol: 'email', endpoint }),
      'subscriptions[0].endpoint:',
      'one e-mail address of at most 320',
    ]),
    [
      'a URL that SNS does not take',
      withQueue({ protocol: 'https', endpoint: `https://example.org/${'x'.repeat(2_029)}` }),
      'subscriptions[0].endpoint:',
      'an https URL of at most 2048',
    ],
    ...['CPR \ud800', '\udc00', 'CPR\ufffe', 'CPR\uffff', 'CPR\u0000'].map(
      (name): [string, unknown, string, string] => [
        `the assessment ${JSON.stringify(name)}`,
        withFilter({ assessments: [name] }),
        'subscriptions[0].filter.assessments[0]:',
        'an assessment name',
      ],
    ),
    [
      'too many values of one key',
      withFilter({ organizations: Array.from({ length: 151 }, (_, index) => index + 1) }),
      'subscriptions[0].filter.organizations: a list of 151 found',
      'at most 150',
    ],
    ...['role//payroll', 'role/payroll/', 'role/'].map(
      (resource): [string, unknown, string, string] => [
        `the reader ${resource}`,
        withQueue({
          endpoint: { newQueue: 'payroll', readers: [`arn:aws:iam::111122223333:${resource}`] },
        }),
        'subscriptions[0].endpoint.readers[0]:',
        'the ARN of an IAM role',
      ],
    ),
    [
      'a reader that is no ARN',
      withQueue({ endpoint: { newQueue: 'payroll', readers: ['payroll'] } }),
      'subscriptions[0].endpoint.readers[0]: "payroll" found',
      'the ARN of an IAM role',
    ],
    [
      'the same new queue for two topics',
      {
        integrations: [district],
        subscriptions: [
          { ...queue, endpoint: { newQueue: 'pay-roll' } },
          { ...queue, topic: 'alerts', endpoint: { newQueue: 'payroll' } },
        ],
      },
      'subscriptions[1]: an object found',
      'not yet subscribed',
    ],
    [
      'raw messages for a function',
      withQueue({ protocol: 'lambda', endpoint: addresses.lambda, raw: true }),
      'subscriptions[0].raw: true found',
      "only the protocols 'sqs' and 'https'",
    ],
    [
      'a webhook at no host',
      withQueue({ protocol: 'https', endpoint: 'https://%%/x' }),
      'subscriptions[0].endpoint: "https://%%/x" found',
      'an https URL',
    ],
    ['an empty filter', withFilter({}), 'subscriptions[0].filter: an object found', 'at least one'],
    [
      'an organization twice in a filter',
      withFilter({ organizations: [7, 8, 7] }),
      'subscriptions[0].filter.organizations[2]: 7 found',
      'does not have yet',
    ],
    [
      'an organization beyond what SNS compares',
      withFilter({ organizations: [1_000_000_001] }),
      'subscriptions[0].filter.organizations[0]: 1000000001 found',
      'from 1 to 1000000000',
    ],
    [
      'an assessment name longer than names are',
      withFilter({ assessments: ['Rope '.repeat(60)] }),
      'subscriptions[0].filter.assessments[0]:',
      'at most 256 characters',
    ],
    [
      'a key for a secret that does not exist yet',
      withDistrict({
        secretKeyArn: 'arn:aws:kms:us-east-1:111122223333:key/mrk-0123456789abcdef0123456789abcdef',
      }),
      'integrations[0].secretKeyArn:',
      'existing secret',
    ],
    [
      "a key's alias",
      withDistrict({
        secretName: 'partner/district-a',
        secretKeyArn: 'arn:aws:kms:us-east-1:111122223333:alias/partner',
      }),
      'integrations[0].secretKeyArn:',
      'not of an alias',
    ],
    [
      "a key's alias for the topics",
      { integrations: [district], keyArn: 'arn:aws:kms:us-east-1:111122223333:alias/topics' },
      'keyArn: "arn:aws:kms:us-east-1:111122223333:alias/topics" found',
      'not of an alias',
    ],
    [
      'a FIFO topic for the pager',
      { integrations: [district], pagerTopicArn: 'arn:aws:sns:us-east-1:111122223333:pager.fifo' },
      'pagerTopicArn: "arn:aws:sns:us-east-1:111122223333:pager.fifo" found',
      'the ARN of a standard SNS topic',
    ],
    [
      'a boundary that is no policy',
      { integrations: [district], permissionsBoundary: 'arn:aws:iam::111122223333:role/x' },
      'permissionsBoundary: "arn:aws:iam::111122223333:role/x" found',
      'the name or the ARN of an IAM policy',
    ],
    [
      'more tags than AWS takes',
      {
        integrations: [district],
        tags: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`tag ${index}`, ''])),
      },
      'tags: an object found',
      'at most 50 tags',
    ],
    [
      'more subscriptions than fit into a stack',
      {
        integrations: [district],
        subscriptions: Array.from({ length: 80 }, (_, index) => ({
          ...queue,
          endpoint: `${queue.endpoint}-${index}`,
        })),
      },
      'subscriptions: a list of 80 found',
      'CloudFormation takes 500',
    ],
    [
      'an address that is none',
      withQueue({ topic: 'alerts', protocol: 'email', endpoint: 'office' }),
      'subscriptions[0].endpoint: "office" found',
      'one e-mail address',
    ],
    [
      'a webhook without TLS',
      withQueue({ protocol: 'https', endpoint: 'http://hook.example.org/x' }),
      'subscriptions[0].endpoint:',
      'an https URL',
    ],
    [
      "a filter on people's mail",
      withQueue({ topic: 'alerts', filter: { late: true } }),
      'subscriptions[0].filter: an object found',
      "only messages of the topic 'events'",
    ],
    [
      'an unknown kind of change',
      withFilter({ types: ['deleted'] }),
      'subscriptions[0].filter.types[0]: "deleted" found',
      "'withdrawn'",
    ],
    [
      'a filter for nothing',
      withFilter({ types: [] }),
      'subscriptions[0].filter.types: a list of 0 found',
      'at least one',
    ],
    [
      'an unknown integration in a filter',
      withFilter({ integrations: ['district-z'] }),
      'subscriptions[0].filter.integrations[0]: "district-z" found',
      'a configured integration ("district-a")',
    ],
    [
      'an organization by name',
      withFilter({ organizations: ['Larkspur'] }),
      'subscriptions[0].filter.organizations[0]: "Larkspur" found',
      'an organization id',
    ],
    [
      'more combinations than SNS takes',
      withFilter({
        types: ['created', 'updated'],
        organizations: Array.from({ length: 76 }, (_, index) => index + 1),
      }),
      'subscriptions[0].filter: an object found',
      'at most 150 combinations',
    ],
    [
      'a retention that CloudWatch does not know',
      { integrations: [district], logRetentionDays: 31 },
      'logRetentionDays: 31 found',
      '1, 3, 5, 7',
    ],
    [
      'a stack name with a dot',
      { integrations: [district], stackName: 'a.b' },
      'stackName: "a.b" found',
      'letters, digits and hyphens',
    ],
    [
      'a flag as text',
      { integrations: [district], terminationProtection: 'yes' },
      'terminationProtection: "yes" found',
      'true or false',
    ],
    [
      'a reserved tag',
      { integrations: [district], tags: { 'aws:x': 'y' } },
      'tags.aws:x:',
      'does not start with "aws:"',
    ],
    [
      'a short account id',
      { integrations: [district], subscriberAccounts: ['123'] },
      'subscriberAccounts[0]: "123" found',
      '12 digits',
    ],
  ])('%s', (_what, input, found, allowed) => {
    const problems = problemsOf(input);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(found);
    expect(problems[0]).toContain(allowed);
    expect(problems[0]).not.toContain('\n');
  });

  it.each(['district-a', 'districta'])('two integrations that would share outputs: %s', (name) => {
    const problems = problemsOf({ integrations: [district, { ...district, name }] });
    expect(problems).toEqual([
      `integrations[1].name: "${name}" found; allowed: a name that no other integration has (hyphens do not count)`,
    ]);
  });
});

it('the same endpoint twice on a topic is refused, with or without another filter', () => {
  expect(
    problemsOf({
      integrations: [district],
      subscriptions: [queue, { ...queue, filter: { late: true } }, { ...queue, topic: 'alerts' }],
    }),
  ).toEqual([expect.stringMatching(/^subscriptions\[1\]: an object found; .*not yet subscribed/)]);
});

describe('a configuration with several problems', () => {
  it('lists them all at once, those between settings too', () => {
    const error = new ConfigError(
      problemsOf({
        integrations: [
          { ...district, every: 'often', colour: 'red' },
          { ...district, timeZone: 'Nowhere', recentDays: 0.5 },
        ],
        subscriptions: [{ ...queue, topic: 'news', filter: { integrations: ['district-z'] } }],
        logRetentionDays: 2,
      }),
    );
    expect(error.problems.map((problem) => problem.split(': ')[0])).toEqual(
      expect.arrayContaining([
        'integrations[0].every',
        'integrations[0].colour',
        'integrations[1].timeZone',
        'integrations[1].recentDays',
        'integrations[1].name',
        'subscriptions[0].topic',
        'subscriptions[0].filter.integrations[0]',
        'logRetentionDays',
      ]),
    );
    expect(error.message.split('\n')).toHaveLength(error.problems.length + 1);
  });
});

describe('a credential pasted where a name belongs', () => {
  const generated = ['q7Zt0pXw93LmVb2KcYd8Hs5RfNg1Ju6T', '3f9c1b7e52d44a869e0b7c1d2a3b4c5d'];
  it.each(
    generated.flatMap((secret) => [
      ['secretName', withDistrict({ secretName: secret }), secret],
      [
        'integration name',
        withDistrict({ name: `a${secret.toLowerCase()}` }),
        secret.toLowerCase(),
      ],
      ['stackName', { ...withDistrict({}), stackName: `S${secret}` }, secret],
      ['tag key', { ...withDistrict({}), tags: { [secret]: '' } }, secret],
      ['assessment name', withFilter({ assessments: [secret] }), secret],
    ]),
  )('is refused as %s and not repeated', (_, input, secret) => {
    const problems = problemsOf(input);
    expect(problems).toEqual([expect.stringContaining('never a credential')]);
    expect(problems.join()).not.toContain(secret);
  });

  it.each([
    'partner/district-b',
    'certification-notifier-NotifierDistrictSecret8F3A21B0-AbC1dE',
    'district2026credentials',
    'prod/2026/partnerCredentials-v2',
  ])('does not keep out the name %s', (secretName) => {
    expect(problemsOf(withDistrict({ secretName }))).toEqual([]);
  });
});

describe('what may be a credential is never repeated', () => {
  // Invented, in the shapes that secrets have.
  const pasted = [
    'q7Zt0pXw93LmVb2KcYd8Hs5RfNg1Ju6T',
    '3f9c1b7e-52d4-4a86-9e0b-7c1d2a3b4c5d',
    '{"client_id":"a","client_secret":"b"}',
    'https://user:pass@platform.example.org',
    'https://platform.example.org?token=abc',
    'x'.repeat(61),
  ];

  it.each(
    pasted.flatMap((secret) => [
      [secret, withDistrict({ name: secret })] as const,
      [secret, withDistrict({ baseUrl: secret })] as const,
      [secret, withDistrict({ timeZone: secret })] as const,
      [secret, withDistrict({ client_secret: secret })] as const,
      [secret, withDistrict({ [secret]: '' })] as const,
      [secret, { ...withDistrict({}), tags: { [`aws:${secret}`]: '' } }] as const,
      [secret, withQueue({ endpoint: secret })] as const,
      [
        secret,
        {
          ...withDistrict({ name: secret }),
          subscriptions: [{ ...queue, filter: { integrations: ['x'] } }],
        },
      ] as const,
      [secret, { integrations: secret }] as const,
    ]),
  )('%s', (secret, input) => {
    const problems = problemsOf(input);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join('\n')).not.toContain(secret);
  });
});
