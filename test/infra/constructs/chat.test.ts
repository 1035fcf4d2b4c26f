import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { CertificationNotifier, type SubscriptionSettingsInput } from '../../../infra/index.ts';
import { district, keyArn, refusals, slack, teams } from '../config/settings.ts';
import { at, every, listAt, permissions, roleOf, synthesized, topicOf } from '../synthesized.ts';
import { theirStack } from './their-app.ts';

const inSlack = { protocol: 'slack', workspace: 'T0123ABCD', channel: 'C0123ABCD' } as const;
const onOperations = { ...slack, topic: 'operations' };
const longId = (end: number) => ({ ...slack, channel: `C${'0'.repeat(200)}${end}` });
const longTeam = { ...teams, topic: 'alerts', channel: `19%3A${'_'.repeat(200)}%40x` };
const otherTeam = { ...teams, topic: 'alerts', team: '3e6d4f85-9b3b-4a3f-8d7e-4a5b62738495' };

const combinations = [
  { topic: 'fifo', subscriptions: [teams] },
  { keyArn, subscriptions: [slack, onOperations] },
  { subscriptions: [longId(1), longId(2), longTeam] },
  { subscriptions: [slack, { ...slack, workspace: 'T0123ABCE' }, teams, otherTeam] },
].map((config) => ({
  title: config.subscriptions.map(({ topic, protocol }) => `${topic} by ${protocol}`).join(', '),
  kinds: (['alerts', 'operations'] as const).filter((kind) =>
    config.subscriptions.some(({ topic }) => topic === kind),
  ),
  config,
}));

const channelsIn = (template: ReturnType<typeof synthesized>) => ({
  ...template.findResources('AWS::Chatbot::SlackChannelConfiguration'),
  ...template.findResources('AWS::Chatbot::MicrosoftTeamsChannelConfiguration'),
});

describe.each(combinations)('chats ($title)', ({ config, kinds }) => {
  const template = synthesized({ integrations: [district], ...config });
  const topics = kinds.map((kind) => ({ Ref: topicOf(template, `${kind} for chats`) }));
  const channels = Object.values(channelsIn(template));

  it('have separate topics, encrypted and of version 1, to which nothing else subscribes', () => {
    template.resourceCountIs('AWS::SNS::Topic', 3 + kinds.length);
    for (const TopicArn of topics) {
      template.resourcePropertiesCountIs('AWS::SNS::Subscription', { TopicArn }, 0);
      const { Properties } = template.findResources('AWS::SNS::Topic')[TopicArn.Ref] ?? {};
      // Amazon Q is not documented to know version 2.
      expect(Properties).toEqual({
        DisplayName: expect.stringContaining('for chats'),
        KmsMasterKeyId: expect.anything(),
      });
    }
  });

  it('have one configuration per channel, with all of its topics', () => {
    const expected = Map.groupBy(config.subscriptions, ({ topic: _, ...one }) =>
      JSON.stringify(one),
    );
    const told = channels.map((one) => listAt(one, 'Properties', 'SnsTopicArns'));
    expect(told.map((list) => list.length)).toEqual(
      [...expected.values()].map((one) => one.length),
    );
    expect(new Set(told.flat().map((one) => at(one, 'Ref')))).toEqual(
      new Set(topics.map(({ Ref }) => Ref)),
    );
  });

  it('have no permission: a role without policies, and a guardrail that denies everything', () => {
    const role = roleOf(template, 'chatbot.amazonaws.com', 'ChatRole');
    expect(role).not.toHaveProperty('Properties.Policies');
    expect(role).not.toHaveProperty('Properties.ManagedPolicyArns');
    for (const one of channels)
      expect(listAt(one, 'Properties', 'GuardrailPolicies')).toEqual([
        { 'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':iam::aws:policy/AWSDenyAll']] },
      ]);
  });

  it("have names that are unique in an account, over all regions, and within AWS's limit", () => {
    const names = channels.map((one) => at(one, 'Properties', 'ConfigurationName'));
    expect(new Set(names.map((one) => JSON.stringify(one))).size).toBe(channels.length);
    for (const name of names) {
      const [, [own, id]] = Object(at(name, 'Fn::Join'));
      // The end of a stack's id is a UUID.
      expect(String(own)).toMatch(/^[A-Za-z\d-]{1,92}$/);
      expect(JSON.stringify(id)).toContain('AWS::StackId');
    }
  });

  it('get alarms if they get notices of operations', () => {
    const told = { Ref: topicOf(template, 'operations') };
    const chat = kinds.includes('operations')
      ? [{ Ref: topicOf(template, 'operations for chats') }]
      : [];
    const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
    for (const [id, alarm] of alarms) {
      // A topic is not told that it delivers nothing.
      const also = id.includes('chatoperationsnotdelivered') ? [] : chat;
      expect(listAt(alarm, 'Properties', 'AlarmActions')).toEqual([told, ...also]);
    }
    const statement = Match.objectLike({ Sid: 'AlarmsMayPublish' });
    const PolicyDocument = { Statement: Match.arrayWith([statement]) };
    for (const topic of [told, ...chat])
      template.hasResourceProperties('AWS::SNS::TopicPolicy', { Topics: [topic], PolicyDocument });
  });

  it('that refuse notifications set off an alarm', () => {
    for (const { Ref } of topics)
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName: 'NumberOfNotificationsFailed',
        Dimensions: [{ Name: 'TopicName', Value: { 'Fn::GetAtt': [Ref, 'TopicName'] } }],
        // SNS counts each attempt by HTTPS.
        EvaluationPeriods: 3,
      });
  });

  it('are known to the self-check and to the functions, which publish once the channels exist', () => {
    const variables = kinds.map((kind, index) => [
      `CHAT_${kind.toUpperCase()}_TOPIC_ARN`,
      topics[index],
    ]);
    const [first] = Object.keys(channelsIn(template));
    for (const one of every(template, 'AWS::Lambda::Function')) {
      const told = Object.entries(Object(at(one, 'Properties', 'Environment', 'Variables')));
      expect(told.filter(([name]) => name.startsWith('CHAT_'))).toEqual(variables);
      expect(listAt(one, 'DependsOn')).toContain(first);
    }
    const checks = JSON.stringify(template.findResources('AWS::Scheduler::Schedule'));
    for (const kind of kinds) expect(checks).toContain(`chat-${kind}`);
    for (const name of ['PollRole', 'OperateRole']) {
      const may = permissions(roleOf(template, 'lambda.amazonaws.com', `districta${name}`));
      expect(may.get('sns:Publish')).toEqual(expect.arrayContaining(topics));
    }
  });
});

it('two notifiers of a stack cannot have one channel, of which an account has one configuration', () => {
  const stack = theirStack();
  const mail = { topic: 'alerts', protocol: 'email', endpoint: 'a@example.org' } as const;
  const notifier = (id: string, ...subscriptions: SubscriptionSettingsInput[]) =>
    refusals(
      () => new CertificationNotifier(stack, id, { integrations: [district], subscriptions }),
    );
  expect(notifier('First', { topic: 'operations', ...inSlack })).toEqual([]);
  expect(notifier('Second', mail, { topic: 'alerts', ...inSlack })).toEqual([
    expect.stringMatching(
      /^subscriptions\[1\]\.channel: "C0123ABCD" found; allowed: a channel that no other notifier of the stack has/,
    ),
  ]);
  expect(notifier('Third', { topic: 'alerts', ...inSlack, channel: 'C0123ABCE' })).toEqual([]);
});
