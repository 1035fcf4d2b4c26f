import { describe, expect, it } from 'vitest';
import { endpointName, environment } from '../../../lambda/names.ts';
import { parseCommand } from '../../../lambda/operations/contract.ts';
import { functionEnvironment } from '../../scaffold/settings.ts';
import { at, district, listAt, permissions, statementsOf, synthesized } from '../synthesized.ts';
import {
  alerts,
  events,
  only,
  operations,
  pollOf,
  roleOf,
  table,
  template,
} from './two-districts.ts';

describe('the poll function', () => {
  it("runs on Lambda's Node 24 on ARM, alone, and never queues stale ticks", () => {
    const { id, resource } = pollOf('district-a');
    expect(at(resource, 'Properties')).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      ReservedConcurrentExecutions: 1,
      Timeout: 55,
      MemorySize: 512,
    });
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: id },
      MaximumEventAgeInSeconds: 60,
      MaximumRetryAttempts: 0,
    });
  });

  it('reserves no concurrency if the account has none to reserve', () => {
    const poor = synthesized({ integrations: [district], reserveConcurrency: false });
    for (const one of Object.values(poor.findResources('AWS::Lambda::Function')))
      expect(at(one, 'Properties', 'ReservedConcurrentExecutions')).toBeUndefined();
  });

  it('has the ledger, the topics, its secret and its integration in its environment', () => {
    expect(at(pollOf('district-a').resource, 'Properties', 'Environment', 'Variables')).toEqual({
      ...functionEnvironment({ timeZone: 'America/Chicago' }),
      [environment.table]: { Ref: table.id },
      [environment.eventsTopic]: { Ref: events },
      [environment.alertsTopic]: { Ref: alerts },
      [environment.operationsTopic]: { Ref: operations },
      [environment.secret]: { Ref: 'NotifierdistrictaSecret721C3F3C' },
    });
  });

  it('logs to its own group, with a retention', () => {
    template.resourceCountIs('AWS::Logs::LogGroup', 2);
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
    expect(at(pollOf('district-a').resource, 'Properties', 'LoggingConfig')).toMatchObject({
      LogFormat: 'JSON',
      LogGroup: { Ref: expect.stringContaining('districtaLogs') },
    });
  });

  it("has the exact permissions of a tick, to its own integration's resources", () => {
    const granted = permissions(roleOf('lambda.amazonaws.com', 'districta'));
    const tableArn = { 'Fn::GetAtt': [table.id, 'Arn'] };
    const key = only('AWS::KMS::Key');
    expect(Object.fromEntries(granted)).toEqual({
      'dynamodb:GetItem': [tableArn],
      'dynamodb:UpdateItem': [tableArn],
      'dynamodb:BatchGetItem': [tableArn],
      'dynamodb:BatchWriteItem': [tableArn],
      'dynamodb:Query': [
        { 'Fn::Join': ['', [tableArn, '/index/by-day']] },
        { 'Fn::Join': ['', [tableArn, '/index/undelivered']] },
      ],
      'sns:Publish': [{ Ref: alerts }, { Ref: events }, { Ref: operations }],
      'kms:Decrypt': [{ 'Fn::GetAtt': [key.id, 'Arn'] }],
      'kms:GenerateDataKey*': [{ 'Fn::GetAtt': [key.id, 'Arn'] }],
      'secretsmanager:GetSecretValue': [{ Ref: 'NotifierdistrictaSecret721C3F3C' }],
      'logs:CreateLogStream': [{ 'Fn::GetAtt': [expect.stringContaining('districtaLogs'), 'Arn'] }],
      'logs:PutLogEvents': [{ 'Fn::GetAtt': [expect.stringContaining('districtaLogs'), 'Arn'] }],
    });
  });

  it('has no permission by a policy outside its role', () => {
    template.resourceCountIs('AWS::IAM::Policy', 0);
    template.resourceCountIs('AWS::IAM::ManagedPolicy', 0);
    for (const role of Object.values(template.findResources('AWS::IAM::Role')))
      expect(at(role, 'Properties', 'ManagedPolicyArns')).toBeUndefined();
  });
});

describe('the secret', () => {
  it('begins with the right shape and no credentials', () => {
    // The literal matters: CloudFormation overwrites filled secrets whenever it changes.
    expect(only('AWS::SecretsManager::Secret').resource).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
      Properties: { SecretString: '{"client_id":"","client_secret":""}' },
    });
  });

  it('is not created if an existing one is named, which only that function may read', () => {
    template.resourceCountIs('AWS::SecretsManager::Secret', 1);
    const { resource } = pollOf('district-b');
    expect(at(resource, 'Properties', 'Environment', 'Variables', environment.secret)).toBe(
      'partner/district-b',
    );
    const [arn] =
      permissions(roleOf('lambda.amazonaws.com', 'districtb')).get(
        'secretsmanager:GetSecretValue',
      ) ?? [];
    expect(JSON.stringify(arn)).toContain(':secret:partner/district-b-??????');
  });

  it('under a customer key adds the permission to decrypt that secret, and no other', () => {
    const [statement, ...others] = statementsOf(roleOf('lambda.amazonaws.com', 'districtb')).filter(
      (candidate) => at(candidate, 'Sid') === 'DecryptCredentials',
    );
    expect(others).toEqual([]);
    expect(statement).toMatchObject({
      Action: 'kms:Decrypt',
      Resource: 'arn:aws:kms:us-east-1:111122223333:key/mrk-0123456789abcdef0123456789abcdef',
    });
    const condition = JSON.stringify(at(statement, 'Condition'));
    expect(condition).toMatch(/"kms:ViaService":.*"secretsmanager\."/);
    expect(condition).toMatch(/"kms:EncryptionContext:SecretARN":.*partner\/district-b-\?{6}/);
  });
});

describe('the schedule', () => {
  it.each([
    ['district-a', 'rate(1 minute)', 60],
    ['district-b', 'rate(15 minutes)', 900],
  ])('of %s starts a tick at its %s and gives up when the next is due', (name, rate, age) => {
    const queue = only('AWS::SQS::Queue', { SqsManagedSseEnabled: true });
    template.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: rate,
      FlexibleTimeWindow: { Mode: 'OFF' },
      State: 'ENABLED',
      Target: {
        Arn: { 'Fn::GetAtt': [pollOf(name).id, 'Arn'] },
        DeadLetterConfig: { Arn: { 'Fn::GetAtt': [queue.id, 'Arn'] } },
        RetryPolicy: { MaximumEventAgeInSeconds: age, MaximumRetryAttempts: 3 },
      },
    });
  });

  const starter = roleOf('scheduler.amazonaws.com', 'Starter');

  it('lets scheduler.amazonaws.com in on behalf of this account only', () => {
    expect(listAt(starter, 'Properties', 'AssumeRolePolicyDocument', 'Statement')).toEqual([
      {
        Action: 'sts:AssumeRole',
        Effect: 'Allow',
        Principal: { Service: 'scheduler.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ]);
  });

  it('may start the functions and queue failed starts, and no more', () => {
    const functions = Object.entries(template.findResources('AWS::Lambda::Function'))
      .filter(([id]) => /Poll|Operate/.test(id))
      .map(([id]) => ({ 'Fn::GetAtt': [id, 'Arn'] }));
    expect(functions).toHaveLength(4);
    expect(Object.fromEntries(permissions(starter))).toEqual({
      'lambda:InvokeFunction': expect.toSatisfy(
        (allowed: unknown[]) =>
          allowed.length === 4 &&
          functions.every((one) => JSON.stringify(allowed).includes(JSON.stringify(one))),
      ),
      'sqs:SendMessage': [
        { 'Fn::GetAtt': [only('AWS::SQS::Queue', { SqsManagedSseEnabled: true }).id, 'Arn'] },
      ],
    });
  });
});

describe('the self-check', () => {
  const properties = (name: string) =>
    at(
      only('AWS::Scheduler::Schedule', { Description: `Starts a self-check of ${name} once a day` })
        .resource,
      'Properties',
    );
  const inputOf = (name: string) => {
    const input: unknown = at(properties(name), 'Target', 'Input');
    return parseCommand(JSON.parse(String(input)));
  };

  it('is started once a day, at a separate minute, never about midnight', () => {
    const [one, other] = ['district-a', 'district-b'].map((name) =>
      at(properties(name), 'ScheduleExpression'),
    );
    expect(one).toMatch(/^cron\([1-9]\d? ([1-9]|1\d|2[0-2]) \* \* \? \*\)$/);
    expect(other).not.toBe(one);
  });

  it("has the configured subscriptions, without a person's address", () => {
    expect(inputOf('district-a')).toEqual({
      command: 'check',
      note: true,
      subscriptions: [
        {
          topic: 'events',
          protocol: 'sqs',
          endpoint: 'arn:aws:sqs:us-east-1:111122223333:certifications',
          name: 'arn:aws:sqs:us-east-1:111122223333:certifications',
        },
        {
          topic: 'alerts',
          protocol: 'email',
          endpoint: endpointName('email', 'office@district-a.example.org'),
          name: 'a subscriber by e-mail at district-a.example.org',
        },
      ],
    });
    expect(JSON.stringify(properties('district-a'))).not.toContain('office');
  });

  it('of one integration alone reads the shared resources', () => {
    expect(inputOf('district-b')).toEqual({ command: 'check', note: true });
  });
});
