import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../lambda/commands/contract.ts';
import { endpointName, environment } from '../../../lambda/names.ts';
import { addresses, keyArn, queue } from '../config/settings.ts';
import {
  arnOf,
  at,
  district,
  every,
  type Json,
  listAt,
  only,
  permissions,
  roleOf,
  statementsOf,
  synthesized,
  topicOf,
} from '../synthesized.ts';

/** The parts of one integration without subscribers are in approved/smallest.yaml. */
const template = synthesized({
  integrations: [
    district,
    { ...district, name: 'district-b', secretName: 'partner/district-b', secretKeyArn: keyArn },
  ],
  subscriptions: [
    queue,
    { ...queue, endpoint: { newQueue: 'ours' } },
    { ...queue, topic: 'alerts', endpoint: `${queue.endpoint}-for-people` },
  ],
});

describe('the poll function', () => {
  it('reserves no concurrency if the account has none to reserve', () => {
    const poor = synthesized({ integrations: [district], reserveConcurrency: false });
    for (const one of every(poor, 'AWS::Lambda::Function'))
      expect(at(one, 'Properties', 'ReservedConcurrentExecutions')).toBeUndefined();
  });

  it('has no permission by a policy outside its role', () => {
    template.resourceCountIs('AWS::IAM::Policy', 0);
    template.resourceCountIs('AWS::IAM::ManagedPolicy', 0);
    for (const role of every(template, 'AWS::IAM::Role'))
      expect(at(role, 'Properties', 'ManagedPolicyArns')).toBeUndefined();
  });
});

it("the operate function has a tick's permissions, and may find events, read the topics and fill subscribed queues, and no more", () => {
  const granted = permissions(roleOf(template, 'lambda.amazonaws.com', 'districtaOperate'));
  const ticks = permissions(roleOf(template, 'lambda.amazonaws.com', 'districtaPoll'));
  const topics = ['Alerts', 'Events', 'Operations'].map((name) => ({
    Ref: expect.stringContaining(`Topics${name}`),
  }));
  const key = [arnOf(expect.stringContaining('TopicsKey'))];
  const queues = [queue.endpoint, arnOf(expect.stringContaining('newqueueours'))];
  const [byDay, undelivered] = ticks.get('dynamodb:Query') ?? [];
  const byEvent = JSON.parse(JSON.stringify(byDay).replace('by-day', 'by-event'));
  expect(Object.fromEntries(granted)).toEqual({
    ...Object.fromEntries(ticks),
    'dynamodb:Query': [byDay, byEvent, undelivered],
    'sns:GetTopicAttributes': topics,
    'sns:ListSubscriptionsByTopic': topics,
    'kms:DescribeKey': key,
    'kms:GetKeyPolicy': key,
    'sqs:GetQueueAttributes': queues,
    'sqs:GetQueueUrl': queues,
    'sqs:SendMessage': queues,
  });
});

describe('an existing secret', () => {
  it('is named to its function, which alone may read it, and no other is created', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'One tick: announces changes among the assessments of district-b',
      Environment: { Variables: Match.objectLike({ [environment.secret]: 'partner/district-b' }) },
    });
    const secretsOf = (name: string) =>
      permissions(roleOf(template, 'lambda.amazonaws.com', name)).get(
        'secretsmanager:GetSecretValue',
      );
    expect(JSON.stringify(secretsOf('districtbPoll'))).toContain(
      ':secret:partner/district-b-??????',
    );
    expect(secretsOf('districtaPoll')).toEqual([
      { Ref: only(template, 'AWS::SecretsManager::Secret').id },
    ]);
  });

  it('under a customer key adds the permission to decrypt that secret, and no other', () => {
    const role = roleOf(template, 'lambda.amazonaws.com', 'districtbPoll');
    const decrypting = statementsOf(role).filter((one) => at(one, 'Sid') === 'DecryptCredentials');
    expect(decrypting).toMatchObject([{ Action: 'kms:Decrypt', Resource: keyArn }]);
    const condition = JSON.stringify(at(decrypting[0], 'Condition'));
    expect(condition).toMatch(/"kms:ViaService":.*"secretsmanager\."/);
    expect(condition).toMatch(/"kms:EncryptionContext:SecretARN":.*partner\/district-b-\?{6}/);
  });
});

it('the schedule may start the functions of all integrations', () => {
  const starter = permissions(roleOf(template, 'scheduler.amazonaws.com', 'Starter'));
  const functions = Object.keys(template.findResources('AWS::Lambda::Function'));
  expect(starter.get('lambda:InvokeFunction')).toHaveLength(4);
  expect(starter.get('lambda:InvokeFunction')).toEqual(
    expect.arrayContaining(functions.map(arnOf)),
  );
});

describe('the self-check', () => {
  const subscriptions = [queue, { topic: 'alerts', protocol: 'email', endpoint: addresses.email }];
  const integrations = [district, { ...district, name: 'district-b' }];
  const stack = synthesized({ integrations, subscriptions });
  const schedules = every(stack, 'AWS::Scheduler::Schedule').filter((one) =>
    String(at(one, 'Properties', 'Description')).startsWith('Starts a self-check'),
  );
  const inputs = schedules.map((one) =>
    parseCommand(JSON.parse(String(at(one, 'Properties', 'Target', 'Input')))),
  );

  it('is started once a day, at a separate minute, never about midnight', () => {
    const times = schedules.map((one) => at(one, 'Properties', 'ScheduleExpression'));
    expect(new Set(times).size).toBe(2);
    for (const time of times)
      expect(time).toMatch(/^cron\([1-9]\d? ([1-9]|1\d|2[0-2]) \* \* \? \*\)$/);
  });

  it("has the configured subscriptions, without a person's address", () => {
    const endpoint = endpointName('email', addresses.email);
    const name = 'a subscriber by e-mail at district-a.example.org';
    expect(Object(inputs[0]).subscriptions).toEqual([
      { ...queue, name: queue.endpoint },
      { topic: 'alerts', protocol: 'email', endpoint, name },
    ]);
    expect(JSON.stringify(inputs)).not.toContain('office');
  });

  it('of one integration alone reads the shared resources', () => {
    expect(inputs[1]).toEqual({ command: 'check', note: true });
  });
});

it('an account that may subscribe may subscribe its own queues and functions to events, and no more', () => {
  const subscriberAccounts = ['444455556666', '555566667777'];
  const shared = synthesized({ integrations: [district], subscriberAccounts });
  const policies = every(shared, 'AWS::SNS::TopicPolicy').map((one) => at(one, 'Properties'));
  for (const account of subscriberAccounts) {
    const open = policies.filter((policy) => JSON.stringify(policy).includes(account));
    expect(open).toMatchObject([{ Topics: [{ Ref: topicOf(shared, 'events') }] }]);
    const statements = listAt(open[0], 'PolicyDocument', 'Statement');
    expect(statements.filter((one) => JSON.stringify(one).includes(account))).toMatchObject([
      {
        ...{ Effect: 'Allow', Action: 'sns:Subscribe' },
        Principal: { AWS: { 'Fn::Join': ['', expect.arrayContaining([`:iam::${account}:root`])] } },
        Condition: {
          StringEquals: { 'sns:Protocol': ['sqs', 'lambda'] },
          StringLike: { 'sns:Endpoint': `arn:*:*:*:${account}:*` },
        },
      },
    ]);
  }
});

it.each([
  [1, 'rate(1 minute)', 60, 300, 3],
  [5, 'rate(5 minutes)', 300, 300, 3],
  [15, 'rate(15 minutes)', 900, 900, 2],
  [60, 'rate(1 hour)', 3_600, 3_600, 2],
])(
  'at a tick every %i min, alarms wait for three ticks, and a quarter of an hour for events',
  (...row) => {
    const [minutes, ScheduleExpression, age, Period, EvaluationPeriods] = row;
    const stack = synthesized({ integrations: [{ ...district, every: minutes }] });
    const has = (type: string, properties: Json) => stack.hasResourceProperties(type, properties);
    const alarm = 'AWS::CloudWatch::Alarm';
    has(alarm, { MetricName: 'Errors', Period: age, DatapointsToAlarm: 3, EvaluationPeriods: 5 });
    has(alarm, { MetricName: 'TicksCompleted', Period: age, EvaluationPeriods: 3 });
    has(alarm, { MetricName: 'EventsUndelivered', Period, EvaluationPeriods });
    const RetryPolicy = { MaximumEventAgeInSeconds: age, MaximumRetryAttempts: 3 };
    has('AWS::Scheduler::Schedule', { ScheduleExpression, Target: { RetryPolicy } });
  },
);
