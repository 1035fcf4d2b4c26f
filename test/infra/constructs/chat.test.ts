import { describe, expect, it } from 'vitest';
import { CertificationNotifier, type SubscriptionSettingsInput } from '../../../infra/index.ts';
import {
  at,
  district,
  listAt,
  only,
  permissions,
  roleOf,
  statementsOf,
  synthesized,
} from '../synthesized.ts';
import { problemsOf, theirStack } from './their-app.ts';

const slack = { protocol: 'slack', workspace: 'T0123ABCD', channel: 'C0123ABCD' } as const;
const teams = {
  protocol: 'teams' as const,
  tenant: '0b3a1c52-6f0e-4d0c-9a4b-1d2e3f405162',
  team: '1c4b2d63-7f1f-4e1d-8b5c-2e3f40516273',
  channel: '19%3Aab1c2d%40thread.tacv2',
};
const both = [
  { topic: 'alerts', ...slack },
  { topic: 'operations', ...slack },
];
const keyArn = 'arn:aws:kms:us-east-1:111122223333:key/mrk-0123456789abcdef0123456789abcdef';

const wide = Array.from({ length: 2 }, (_, index) => ({
  topic: 'alerts',
  ...slack,
  channel: `C${'0'.repeat(200)}${index}`,
}));

const combinations = [
  { kinds: ['alerts'], topic: 'standard', subscriptions: [{ topic: 'alerts', ...slack }] },
  { kinds: ['operations'], topic: 'fifo', subscriptions: [{ topic: 'operations', ...teams }] },
  { kinds: ['alerts', 'operations'], topic: 'standard', keyArn, subscriptions: both },
  {
    kinds: ['alerts', 'operations'],
    topic: 'fifo',
    subscriptions: [...both, { topic: 'alerts', ...teams }],
  },
  {
    kinds: ['alerts'],
    topic: 'standard',
    subscriptions: [...wide, { topic: 'alerts', ...teams, channel: `19%3A${'_'.repeat(200)}%40x` }],
  },
].map(({ kinds, ...config }) => ({
  title: `${config.subscriptions.map(({ topic, protocol }) => `${topic} by ${protocol}`).join(', ')}; ${config.topic}`,
  kinds,
  config,
  template: synthesized({
    integrations: [district, { ...district, name: 'district-b' }],
    ...config,
  }),
}));

const names: Readonly<Record<string, string>> = {
  alerts: 'Certification alerts, for chats',
  operations: 'Certification notifier operations, for chats',
};
const displayed = (template: ReturnType<typeof synthesized>, DisplayName: string) =>
  Object.keys(template.findResources('AWS::SNS::Topic', { Properties: { DisplayName } }))[0];

describe.each(combinations)('chats ($title)', ({ template, kinds, config }) => {
  const topicOf = (kind: string) => displayed(template, names[kind] ?? '');
  const operations = displayed(template, 'Certification notifier operations');
  const channels = [
    ...Object.values(template.findResources('AWS::Chatbot::SlackChannelConfiguration')),
    ...Object.values(template.findResources('AWS::Chatbot::MicrosoftTeamsChannelConfiguration')),
  ];

  it('have separate topics, encrypted and over TLS, to which nothing else subscribes', () => {
    for (const kind of ['alerts', 'operations'])
      expect(topicOf(kind) !== undefined).toBe(kinds.includes(kind));
    for (const kind of kinds) {
      const { resource } = only(template, 'AWS::SNS::Topic', { DisplayName: names[kind] });
      expect(at(resource, 'Properties', 'KmsMasterKeyId')).toBeDefined();
      expect(at(resource, 'Properties', 'FifoTopic')).toBeUndefined();
      // Amazon Q is not documented to know version 2.
      expect(at(resource, 'Properties', 'SignatureVersion')).toBeUndefined();
      template.resourcePropertiesCountIs(
        'AWS::SNS::Subscription',
        { TopicArn: { Ref: topicOf(kind) } },
        0,
      );
    }
  });

  it('have one configuration per channel, with all of its topics', () => {
    const expected = new Map<string, string[]>();
    for (const { topic, channel } of config.subscriptions)
      expected.set(channel, [...(expected.get(channel) ?? []), topic]);
    const found = channels.map((one) => [
      at(one, 'Properties', 'SlackChannelId') ?? at(one, 'Properties', 'TeamsChannelId'),
      listAt(one, 'Properties', 'SnsTopicArns'),
    ]);
    expect(found).toEqual(
      [...expected].map(([channel, kinds]) => [
        channel,
        kinds.map((kind) => ({ Ref: topicOf(kind) })),
      ]),
    );
  });

  it('have no permission: a role without policies, and a guardrail that denies everything', () => {
    const role = roleOf(template, 'chatbot.amazonaws.com', 'ChatRole');
    expect(statementsOf(role)).toEqual([]);
    expect(at(role, 'Properties', 'ManagedPolicyArns')).toBeUndefined();
    for (const one of channels)
      expect(listAt(one, 'Properties', 'GuardrailPolicies')).toEqual([
        { 'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':iam::aws:policy/AWSDenyAll']] },
      ]);
  });

  it("have names that are unique in an account, over all regions, and within AWS's limit", () => {
    const texts = channels.map((one) => at(one, 'Properties', 'ConfigurationName'));
    expect(new Set(texts.map((one) => JSON.stringify(one))).size).toBe(channels.length);
    for (const text of texts) {
      const [, [own, id]] = Object(at(text, 'Fn::Join'));
      // The end of a stack's id is a UUID.
      expect(String(own)).toMatch(/^[A-Za-z\d-]{1,92}$/);
      expect(JSON.stringify(id)).toContain('AWS::StackId');
    }
  });

  it('get alarms if they get notices of operations', () => {
    const chat = topicOf('operations');
    const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
    for (const [id, alarm] of alarms) {
      const actions = listAt(alarm, 'Properties', 'AlarmActions');
      expect(actions).toContainEqual({ Ref: operations });
      const isOwn = id.includes('chatoperationsnotdelivered');
      if (chat !== undefined && !isOwn) expect(actions).toContainEqual({ Ref: chat });
      else expect(actions).toHaveLength(1);
    }
    if (chat === undefined) return;
    const policies = Object.values(template.findResources('AWS::SNS::TopicPolicy'));
    const [policy] = policies.filter((one) =>
      JSON.stringify(at(one, 'Properties', 'Topics')).includes(`"${chat}"`),
    );
    expect(listAt(policy, 'Properties', 'PolicyDocument', 'Statement')).toContainEqual(
      expect.objectContaining({
        Sid: 'AlarmsMayPublish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    );
  });

  it('that refuse notifications set off an alarm', () => {
    for (const kind of kinds)
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName: 'NumberOfNotificationsFailed',
        Dimensions: [{ Name: 'TopicName', Value: { 'Fn::GetAtt': [topicOf(kind), 'TopicName'] } }],
        // SNS counts each attempt by HTTPS.
        EvaluationPeriods: 3,
      });
  });

  it('are known to the functions, which may publish there', () => {
    const variables = Object.entries({
      CHAT_ALERTS_TOPIC_ARN: 'alerts',
      CHAT_OPERATIONS_TOPIC_ARN: 'operations',
    }).filter(([, kind]) => kinds.includes(kind));
    for (const one of Object.values(template.findResources('AWS::Lambda::Function'))) {
      const told = Object.entries(Object(at(one, 'Properties', 'Environment', 'Variables')));
      expect(told.filter(([name]) => name.startsWith('CHAT_'))).toEqual(
        variables.map(([name, kind]) => [name, { Ref: topicOf(kind) }]),
      );
    }
    const arns = kinds.map((kind) => ({ Ref: topicOf(kind) }));
    for (const name of ['PollRole', 'OperateRole']) {
      const may = permissions(roleOf(template, 'lambda.amazonaws.com', `districta${name}`));
      expect(may.get('sns:Publish')).toEqual(expect.arrayContaining(arns));
    }
  });

  it('are checked by the first self-check', () => {
    const checks = JSON.stringify(template.findResources('AWS::Scheduler::Schedule'));
    for (const { topic } of config.subscriptions) expect(checks).toContain(`chat-${topic}`);
  });

  it('exist before a function publishes', () => {
    const [id] = [
      ...Object.keys(template.findResources('AWS::Chatbot::SlackChannelConfiguration')),
      ...Object.keys(template.findResources('AWS::Chatbot::MicrosoftTeamsChannelConfiguration')),
    ];
    for (const one of Object.values(template.findResources('AWS::Lambda::Function')))
      expect(listAt(one, 'DependsOn')).toContain(id);
  });
});

it('one ID in two workspaces, or in two teams, gives two names, with the workspace of Slack', () => {
  const team = '3e6d4f85-9b3b-4a3f-8d7e-4a5b62738495';
  const subscriptions = [
    slack,
    { ...slack, workspace: 'T0123ABCE' },
    teams,
    { ...teams, team },
  ].map((one) => ({ topic: 'alerts', ...one }));
  const template = synthesized({ integrations: [district], subscriptions });
  const names = ['Slack', 'MicrosoftTeams'].flatMap((chat) =>
    Object.values(template.findResources(`AWS::Chatbot::${chat}ChannelConfiguration`)).map((one) =>
      String(Object(at(one, 'Properties', 'ConfigurationName', 'Fn::Join'))[1][0]),
    ),
  );
  expect(new Set(names).size).toBe(4);
  for (const one of ['T0123ABCD-C0123ABCD', 'T0123ABCE-C0123ABCD'])
    expect(names.filter((name) => name.includes(one))).toHaveLength(1);
});

it('two notifiers of a stack cannot have one channel, of which an account has one configuration', () => {
  const stack = theirStack();
  const notifier = (id: string, subscriptions: SubscriptionSettingsInput[]) =>
    problemsOf(
      () => new CertificationNotifier(stack, id, { integrations: [district], subscriptions }),
    );
  expect(notifier('First', [{ topic: 'operations', ...slack }])).toEqual([]);
  expect(
    notifier('Second', [
      { topic: 'alerts', ...teams },
      { topic: 'alerts', ...slack },
    ]),
  ).toEqual([
    expect.stringMatching(
      /^subscriptions\[1\]\.channel: "C0123ABCD" found; allowed: a channel that no other notifier of the stack has/,
    ),
  ]);
  expect(notifier('Third', [{ topic: 'operations', ...teams }])).toEqual([]);
});

it('a stack without chats has no part of one', () => {
  const text = JSON.stringify(synthesized({ integrations: [district] }).toJSON());
  expect(text).not.toMatch(/chat/i);
});

it('a chat on operations counts as a subscriber: there is no warning', () => {
  const template = synthesized({
    integrations: [district],
    subscriptions: [{ topic: 'operations', ...slack }],
  });
  expect(JSON.stringify(template.toJSON())).toContain('chat-operations');
});
