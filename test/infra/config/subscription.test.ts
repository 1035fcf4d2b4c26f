import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { defaultClaim } from '../../../consumer/handling.ts';
import { parseConfig } from '../../../infra/config.ts';
import {
  addresses,
  expectOneLine,
  problemsOf,
  queue,
  type Refusal,
  withQueue,
} from './settings.ts';

describe('a subscription', () => {
  it('may have a queue made, with usual defaults', () => {
    const { subscriptions } = parseConfig(withQueue({ endpoint: { newQueue: 'payroll' } }));
    expect(subscriptions).toEqual([
      {
        ...queue,
        endpoint: { newQueue: 'payroll', visibilityTimeout: 90, attempts: 5 },
        raw: false,
        mailPerEvent: false,
      },
    ]);
  });

  it('may have a queue made, whose messages outlive the claim of a dead worker', () => {
    const { subscriptions } = parseConfig(withQueue({ endpoint: { newQueue: 'payroll' } }));
    const [made] = subscriptions.map((one) => ('endpoint' in one ? one.endpoint : undefined));
    const { visibilityTimeout, attempts } = Object(made);
    const claim = Temporal.Duration.from(defaultClaim).total('seconds');
    // The last receive comes after the end of the claim, with a minute for a batch.
    expect(visibilityTimeout * (attempts - 1)).toBeGreaterThanOrEqual(claim + 60);
  });

  it.each([
    ['sqs', `arn:aws-us-gov:sqs:us-gov-west-1:111122223333:${'q'.repeat(80)}`],
    ['lambda', 'arn:aws-cn:lambda:cn-north-1:111122223333:function:certifications:live'],
    ['email', `${'a'.repeat(308)}@example.org`],
    ['https', `https://example.org/${'x'.repeat(2_028)}`],
  ])('may have the longest address that AWS accepts: %s', (protocol, endpoint) => {
    const topic = protocol === 'email' ? 'alerts' : 'events';
    expect(problemsOf(withQueue({ topic, protocol, endpoint }))).toEqual([]);
  });

  it('may be one mail for each event, if it says that this is intended', () => {
    const endpoint = 'office@district-a.example.org';
    const settings = { protocol: 'email', endpoint, mailPerEvent: true };
    expect(problemsOf(withQueue(settings))).toEqual([]);
  });

  it.each([
    'https://slack.example.org/services/x',
    'https://hooks.slack.com.example.org/services/x',
    'https://outlook.office.com/calendar',
    'https://logic.azure.com.example.org/workflows/x',
    'https://api.powerplatform.example.org/x',
  ])("may be a webhook that only looks like a chat's: %s", (endpoint) => {
    expect(problemsOf(withQueue({ protocol: 'https', endpoint }))).toEqual([]);
  });

  it.each(['8.8.8.8', '172.32.0.1', '[2001:4860:4860::8888]', 'hook.example.org:8443'])(
    'may be a webhook at %s',
    (host) => {
      const endpoint = `https://${host}/x`;
      expect(problemsOf(withQueue({ protocol: 'https', endpoint }))).toEqual([]);
    },
  );
});

describe('a wrong setting of a subscription is named with its place, its value and the allowed values', () => {
  it.each<Refusal>([
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
      'an unknown setting of a new queue',
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
    ].map(
      (endpoint): Refusal => [
        `the queue ${endpoint}`,
        { ...withQueue({ endpoint }), topic: 'fifo' },
        'subscriptions[0].endpoint:',
        'the ARN of a queue',
      ],
    ),
    ...[
      'arn:aws:lambda::111122223333:function:certifications',
      'arn:aws:lambda:us-east-1:111122223333:function::live',
      'arn:aws:lambda:us-east-1:111122223333:function:certifications:',
      `arn:aws:lambda:us-east-1:111122223333:function:${'f'.repeat(65)}`,
      `arn:aws:lambda:us-east-1:111122223333:function:${'f'.repeat(64)}:${'v'.repeat(29)}`,
    ].map(
      (endpoint): Refusal => [
        `the function ${endpoint}`,
        withQueue({ protocol: 'lambda', endpoint }),
        'subscriptions[0].endpoint:',
        'the ARN of a function',
      ],
    ),
    ...[
      'a@example.org,b@example.org',
      'a@example.org;b',
      'Office <office@example.org>',
      'a@example..org',
      'a@example.org.',
      'büro@example.org',
      'a@exämple.org',
      '.a@example.org',
      'a.@example.org',
      'a..b@example.org',
      'a@-example.org',
      'a@example-.org',
      `${'a'.repeat(309)}@example.org`,
    ].map(
      (endpoint): Refusal => [
        `the mail address ${endpoint}`,
        withQueue({ topic: 'alerts', protocol: 'email', endpoint }),
        'subscriptions[0].endpoint:',
        'one e-mail address of at most 320',
      ],
    ),
    [
      'a URL that SNS does not accept',
      withQueue({ protocol: 'https', endpoint: `https://example.org/${'x'.repeat(2_029)}` }),
      'subscriptions[0].endpoint:',
      'an https URL of at most 2048',
    ],
    ...['role//payroll', 'role/payroll/', 'role/'].map(
      (resource): Refusal => [
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
      'raw messages for a function',
      withQueue({ protocol: 'lambda', endpoint: addresses.lambda, raw: true }),
      'subscriptions[0].raw: true found',
      "only the protocols 'sqs' and 'https'",
    ],
    ...[
      'localhost',
      'localhost.',
      '127.0.0.1:8443',
      '2130706433',
      '[::1]',
      '0.0.0.0',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1:8443',
      '100.64.0.1',
      '169.254.169.254',
      '[fe80::1]',
      '[fd00:ec2::254]',
      '[::ffff:10.0.0.1]',
    ].map(
      (host): Refusal => [
        `a webhook that SNS cannot reach: ${host}`,
        withQueue({ protocol: 'https', endpoint: `https://${host}/x` }),
        'subscriptions[0].endpoint:',
        'of a host on the internet',
      ],
    ),
    [
      'a webhook at a host with too long a name',
      withQueue({ protocol: 'https', endpoint: `https://${'h'.repeat(250)}.org/x` }),
      'subscriptions[0].endpoint:',
      'an https URL',
    ],
    [
      'a webhook at no host',
      withQueue({ protocol: 'https', endpoint: 'https://%%/x' }),
      'subscriptions[0].endpoint: "https://%%/x" found',
      'an https URL',
    ],
    ...[
      ['Slack', 'https://hooks.slack.com/services/T0AB/B0CD/xYz9AbCdEfGh1234IjKl5678'],
      ['Slack', 'https://HOOKS.slack-gov.com:443/services/T0AB/B0CD/xYz9AbCdEfGh1234IjKl5678'],
      ['Slack', 'https://hooks.slack.com/workflows/T0AB/A0CD/1/xYz9AbCdEfGh1234IjKl5678'],
      ['Microsoft Teams', 'https://district.webhook.office.com/webhookb2/xYz9AbCdEfGh1234IjKl5678'],
      [
        'Microsoft Teams',
        'https://outlook.office.com/webhook/xYz9AbCdEfGh1234IjKl5678/IncomingWebhook/1',
      ],
      [
        'Microsoft Teams',
        'https://default1.2.environment.api.powerplatform.com/powerautomate/workflows/xYz9AbCdEfGh1234IjKl5678',
      ],
      ['Slack', 'https://hooks.slack.com./services/T0AB/B0CD/xYz9AbCdEfGh1234IjKl5678'],
      ...[
        'prod-12.westus.logic.azure.com',
        'prod-12.westus.logic.azure.com:443',
        'prod-12.westus.logic.azure.com.:8443',
        'prod-12.usgovvirginia.logic.azure.us',
        'prod-12.chinanorth.logic.azure.cn',
      ].map((host) => ['Microsoft Teams', `https://${host}/workflows/xYz9AbCdEfGh1234IjKl5678`]),
      ...[
        'api.gov.powerplatform.microsoft.us',
        'api.high.powerplatform.microsoft.us',
        'api.appsplatform.us',
        'api.powerplatform.partner.microsoftonline.cn',
      ].map((host) => [
        'Microsoft Teams',
        `https://default1.2.environment.${host}/powerautomate/workflows/xYz9AbCdEfGh1234IjKl5678`,
      ]),
    ].map(
      ([chat, endpoint]): Refusal => [
        `a webhook of a chat: ${endpoint}`,
        withQueue({ topic: 'alerts', protocol: 'https', endpoint }),
        'subscriptions[0].endpoint: a text of',
        `one of ${chat} does not confirm a subscription, and shows nothing that SNS sends: the protocol '${chat === 'Slack' ? 'slack' : 'teams'}' tells a channel`,
      ],
    ),
    ...['email', 'email-json'].map(
      (protocol): Refusal => [
        `a mail for each event by ${protocol}`,
        withQueue({ protocol, endpoint: 'office@district-a.example.org' }),
        'subscriptions[0].topic: "events" found',
        "'alerts', whose digests are for people; or mailPerEvent: true",
      ],
    ),
    ...[
      { protocol: 'sqs' },
      { topic: 'alerts', protocol: 'email', endpoint: 'office@district-a.example.org' },
    ].map(
      (settings): Refusal => [
        `a mail for each event where there is none: ${settings.protocol}`,
        withQueue({ ...settings, mailPerEvent: true }),
        'subscriptions[0].mailPerEvent: true found',
        "false: it is about mail on the topic 'events' only",
      ],
    ),
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
  ])('%s', (_what, input, found, allowed) => expectOneLine(input, found, allowed));
});
