import { Match } from 'aws-cdk-lib/assertions';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { maxIntegrations, maxResources, resourcesOf } from '../../infra/config/limits.ts';
import { TickJournal } from '../../lambda/journal.ts';
import { environment } from '../../lambda/names.ts';
import * as find from './synthesized.ts';
import { at, type Json, listAt, permissions, statementsOf, synthesized } from './synthesized.ts';

afterEach(() => vi.unstubAllEnvs());

const template = synthesized({
  integrations: [
    { name: 'district-a', baseUrl: 'https://platform.example.org', timeZone: 'America/Chicago' },
    {
      name: 'district-b',
      baseUrl: 'https://other.example.org',
      timeZone: 'UTC',
      every: 15,
      recentDays: 7,
      tokenRequest: 'basic',
      secretName: 'partner/district-b',
      secretKeyArn: 'arn:aws:kms:us-east-1:111122223333:key/mrk-0123456789abcdef0123456789abcdef',
      fields: ['seid', 'results'],
    },
  ],
  subscriptions: [
    {
      topic: 'events',
      protocol: 'sqs',
      endpoint: 'arn:aws:sqs:us-east-1:111122223333:certifications',
      filter: {
        types: ['created', 'withdrawn'],
        organizations: [7, 8],
        assessments: ['Rope Bridge Safety'],
        integrations: ['district-a'],
        late: false,
      },
    },
    { topic: 'alerts', protocol: 'email', endpoint: 'office@district-a.example.org' },
  ],
  subscriberAccounts: ['444455556666', '555566667777'],
  tags: { team: 'certification' },
});

const only = (type: string, properties?: Json) => find.only(template, type, properties);
const roleOf = (service: string, mentions: string) => find.roleOf(template, service, mentions);

const table = only('AWS::DynamoDB::GlobalTable');
const topicId = (displayName: string) => only('AWS::SNS::Topic', { DisplayName: displayName }).id;
const events = topicId('Certification events');
const alerts = topicId('Certification alerts');
const operations = topicId('Certification notifier operations');
const pollOf = (name: string) =>
  only('AWS::Lambda::Function', { Description: Match.stringLikeRegexp(`${name}$`) });

describe('the ledger', () => {
  it('is on demand, encrypted, recoverable to a point in time and cannot be deleted by accident', () => {
    expect(table.resource).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
        Replicas: [
          {
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          },
        ],
      },
    });
  });

  it('has the key and the two indexes that the running code expects', () => {
    expect(at(table.resource, 'Properties')).toMatchObject({
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: expect.arrayContaining([
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'integration_day', AttributeType: 'S' },
        { AttributeName: 'assessment_id', AttributeType: 'N' },
        { AttributeName: 'undelivered', AttributeType: 'S' },
        { AttributeName: 'owed_since', AttributeType: 'S' },
      ]),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-day',
          KeySchema: [
            { AttributeName: 'integration_day', KeyType: 'HASH' },
            { AttributeName: 'assessment_id', KeyType: 'RANGE' },
          ],
          Projection: {
            ProjectionType: 'INCLUDE',
            NonKeyAttributes: ['fingerprint', 'revision', 'presence'],
          },
        },
        {
          IndexName: 'undelivered',
          KeySchema: [
            { AttributeName: 'undelivered', KeyType: 'HASH' },
            { AttributeName: 'owed_since', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    });
  });

  it('and the secrets keep their logical ids: another id replaces them in every deployment', () => {
    expect(table.id).toBe('NotifierLedgerTableB61FFCC6');
    expect(only('AWS::SecretsManager::Secret').id).toBe('NotifierdistrictaSecret721C3F3C');
  });
});

describe('the topics', () => {
  it('are encrypted with the one key and signed with SHA-256', () => {
    const key = only('AWS::KMS::Key', { EnableKeyRotation: true });
    template.resourceCountIs('AWS::SNS::Topic', 3);
    template.allResourcesProperties('AWS::SNS::Topic', {
      KmsMasterKeyId: { 'Fn::GetAtt': [key.id, 'Arn'] },
      SignatureVersion: '2',
    });
  });

  it.each([
    ['events', events],
    ['alerts', alerts],
    ['operations', operations],
  ])('refuse to be published to without TLS: %s', (_name, topic) => {
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      Topics: [{ Ref: topic }],
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Action: 'sns:Publish',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            Principal: '*',
          }),
        ]),
      },
    });
  });

  it('let the alarms of this account through, to the topic and to its key', () => {
    const statement = {
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    };
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      Topics: [{ Ref: operations }],
      PolicyDocument: {
        Statement: Match.arrayWith([Match.objectLike({ ...statement, Action: 'sns:Publish' })]),
      },
    });
    template.hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({ ...statement, Action: ['kms:Decrypt', 'kms:GenerateDataKey*'] }),
        ]),
      },
    });
  });

  it('let the named accounts subscribe to events only', () => {
    const policies = Object.values(template.findResources('AWS::SNS::TopicPolicy'));
    const open = policies.filter((policy) => JSON.stringify(policy).includes('444455556666'));
    expect(open.map((policy) => listAt(policy, 'Properties', 'Topics'))).toEqual([
      [{ Ref: events }],
    ]);
  });

  it.each(['444455556666', '555566667777'])(
    'let the account %s subscribe queues and functions of its own only',
    (account) => {
      const allowed = Object.values(template.findResources('AWS::SNS::TopicPolicy'))
        .flatMap((policy) => listAt(policy, 'Properties', 'PolicyDocument', 'Statement'))
        .filter((statement) => JSON.stringify(at(statement, 'Principal')).includes(account));
      expect(allowed).toMatchObject([
        {
          Effect: 'Allow',
          Action: 'sns:Subscribe',
          Condition: {
            StringEquals: { 'sns:Protocol': ['sqs', 'lambda'] },
            StringLike: { 'sns:Endpoint': `arn:*:*:*:${account}:*` },
          },
        },
      ]);
    },
  );
});

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

  it('is told of the ledger, the topics, its secret and its integration', () => {
    expect(at(pollOf('district-a').resource, 'Properties', 'Environment', 'Variables')).toEqual({
      [environment.table]: { Ref: table.id },
      [environment.eventsTopic]: { Ref: events },
      [environment.alertsTopic]: { Ref: alerts },
      [environment.operationsTopic]: { Ref: operations },
      [environment.secret]: { Ref: 'NotifierdistrictaSecret721C3F3C' },
      [environment.integration]: JSON.stringify({
        name: 'district-a',
        baseUrl: 'https://platform.example.org',
        timeZone: 'America/Chicago',
        recentDays: 3,
        every: 1,
        tokenRequest: 'form',
        audit: { recentMinutes: 15, historyHours: 24, requestsPerTick: 20 },
        holdAbove: 500,
        announce: 'none',
        fields: 'all',
      }),
      [environment.alerts]: JSON.stringify({ detail: 'names', maxRows: 60 }),
    });
  });

  it('logs to a group of its own that forgets', () => {
    template.resourceCountIs('AWS::Logs::LogGroup', 2);
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
    expect(at(pollOf('district-a').resource, 'Properties', 'LoggingConfig')).toMatchObject({
      LogFormat: 'JSON',
      LogGroup: { Ref: expect.stringContaining('districtaLogs') },
    });
  });

  it('may do exactly what a tick does, to the things of its own integration', () => {
    const granted = permissions(roleOf('lambda.amazonaws.com', 'districta'));
    const tableArn = { 'Fn::GetAtt': [table.id, 'Arn'] };
    const key = only('AWS::KMS::Key');
    expect(Object.fromEntries(granted)).toEqual({
      'dynamodb:GetItem': [tableArn],
      'dynamodb:PutItem': [tableArn],
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

  it('gets no permission by a policy outside its role', () => {
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

  it('is not created when an existing one is named, which only that function may read', () => {
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

  it('under a customer key brings the permission to decrypt that secret, and nothing else, with it', () => {
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

  it('comes with the command that fills it among the outputs', () => {
    const outputs = template.findOutputs('*');
    expect(Object.keys(outputs)).toEqual([
      'LedgerTableName',
      'EventsTopicArn',
      'AlertsTopicArn',
      'OperationsTopicArn',
      'Dashboard',
      'Integrations',
      'PollFunctionDistrictA',
      'OperateFunctionDistrictA',
      'ScheduleDistrictA',
      'SecretDistrictA',
      'FillSecretDistrictA',
      'PollFunctionDistrictB',
      'OperateFunctionDistrictB',
      'ScheduleDistrictB',
      'SecretDistrictB',
      'FillSecretDistrictB',
    ]);
    expect(JSON.stringify(outputs.FillSecretDistrictA)).toContain(
      'aws secretsmanager put-secret-value',
    );
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

  it('may start its function and leave what it could not start, nothing else', () => {
    expect(Object.fromEntries(permissions(roleOf('scheduler.amazonaws.com', 'districta')))).toEqual(
      {
        'lambda:InvokeFunction': [{ 'Fn::GetAtt': [pollOf('district-a').id, 'Arn'] }],
        'sqs:SendMessage': [
          { 'Fn::GetAtt': [only('AWS::SQS::Queue', { SqsManagedSseEnabled: true }).id, 'Arn'] },
        ],
      },
    );
  });
});

describe('the alarms', () => {
  it('tell operations when ticks of an integration fail', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Lambda',
      MetricName: 'Errors',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: pollOf('district-b').id } }],
      Period: 900,
      DatapointsToAlarm: 3,
      EvaluationPeriods: 5,
      TreatMissingData: 'notBreaching',
      AlarmActions: [{ Ref: operations }],
      OKActions: [{ Ref: operations }],
    });
  });

  it('tell operations when no tick has completed for three periods, silence included', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'CertificationNotifier',
      MetricName: 'TicksCompleted',
      Dimensions: [{ Name: 'integration', Value: 'district-a' }],
      Period: 60,
      EvaluationPeriods: 3,
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
      AlarmActions: [{ Ref: operations }],
    });
  });

  it('look at the metric under the very dimensions that a tick writes', () => {
    // Powertools writes to the real console only here; elsewhere to a stream of its own.
    vi.stubEnv('POWERTOOLS_DEV', 'true');
    vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
    const written = vi.spyOn(console, 'log').mockReturnValue();
    new TickJournal('district-a').completed({
      integration: 'district-a',
      outcome: 'completed',
      created: 0,
      updated: 0,
      withdrawn: 0,
      restored: 0,
      held: 0,
      recorded: 0,
      examined: 0,
      proofs: {},
      conditions: {},
      unexplained: 0,
      collapsed: false,
      failed: 0,
      quarantined: 0,
      conflicts: 0,
      delivered: 0,
      undelivered: 0,
      undeliverable: 0,
      cutShort: false,
      requests: 1,
      durationMs: 1,
    });
    const metrics: unknown[] = written.mock.calls
      .map(([line]): unknown => JSON.parse(String(line)))
      .flatMap((line) => listAt(line, '_aws', 'CloudWatchMetrics'));
    expect(metrics).toMatchObject([
      { Namespace: 'CertificationNotifier', Dimensions: [['integration']] },
    ]);
    expect(listAt(metrics[0], 'Metrics').map((metric) => at(metric, 'Name'))).toContain(
      'TicksCompleted',
    );
  });

  it('each say the impact, the likely causes and what to do', () => {
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms.length).toBeGreaterThan(0);
    for (const alarm of alarms)
      expect(at(alarm, 'Properties', 'AlarmDescription')).toMatch(
        /Impact: .*\nLikely: .*\nDo: .*\nRunbook: /,
      );
  });
});

describe('the stack', () => {
  const integrations = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `district-${index}`,
      baseUrl: 'https://platform.example.org',
      timeZone: 'UTC',
    }));
  const mostSubscriptions = Math.floor((maxResources - resourcesOf(1, 0)) / resourcesOf(0, 1));

  it.each([
    ['integrations', maxIntegrations, 0, (index: number) => `queue-${index}`],
    ['subscriptions', 1, mostSubscriptions, (index: number) => ({ newQueue: `queue-${index}` })],
  ])(
    'stays within what CloudFormation allows with as many %s as the config allows',
    (_what, count, subscribers, endpoint) => {
      const many = synthesized({
        integrations: integrations(count),
        pagerTopicArn: 'arn:aws:sns:us-east-1:111122223333:pager',
        subscriptions: Array.from({ length: subscribers }, (_, index) => ({
          topic: 'events',
          protocol: 'sqs',
          endpoint: endpoint(index),
        })),
      }).toJSON();
      const resources = Object.keys(many.Resources ?? {}).length;
      expect(resources).toBeLessThanOrEqual(resourcesOf(count, subscribers));
      expect(resources).toBeLessThanOrEqual(maxResources);
      expect(Object.keys(many.Outputs ?? {}).length).toBeLessThanOrEqual(200);
      expect(JSON.stringify(many).length).toBeLessThanOrEqual(1_000_000);
    },
  );
});
