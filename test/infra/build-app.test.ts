import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { buildApp } from '../../infra/build-app.ts';
import { parseConfig } from '../../infra/config.ts';
import { Resolver } from '../../local/aws/intrinsics.ts';
import { templateSchema } from '../../local/aws/template.ts';
import { archive, bus, keyArn, pagerTopicArn, queue, refusals } from './config/settings.ts';
import { at, district, every, listAt, only, synthesized } from './synthesized.ts';

const template = synthesized({ integrations: [district] });
const resources = (settings: object = {}) =>
  synthesized({ integrations: [district], ...settings }).toJSON().Resources ?? {};

// CloudFormation replaces a resource whose logical id changes.
const ledger = 'NotifierLedgerTableB61FFCC6';
const secret = 'NotifierdistrictaSecret721C3F3C';

describe('a resource that outlives the stack', () => {
  it('is the ledger, a secret, the key, or the bucket of an archive, as the description says', () => {
    const whole = synthesized({ integrations: [district], subscriptions: [archive] }).toJSON();
    const told = 'Deleting it keeps the ledger, the secrets, the key and the archive.';
    expect(at(whole, 'Description')).toContain(told);
    const kept = Object.values(whole.Resources ?? {})
      .filter((resource) => String(at(resource, 'DeletionPolicy')).startsWith('Retain'))
      .map((resource) => at(resource, 'Type'));
    expect(kept.toSorted()).toEqual([
      'AWS::DynamoDB::GlobalTable',
      'AWS::KMS::Key',
      'AWS::S3::Bucket',
      'AWS::SecretsManager::Secret',
    ]);
  });

  it.each<[string, object]>([
    ['another integration', { integrations: [{ ...district, name: 'district-0' }, district] }],
    ['another host', { integrations: [{ ...district, baseUrl: 'https://b.org', every: 5 }] }],
    ['a FIFO topic', { topic: 'fifo' }],
    ['a key of ours', { keyArn }],
    ['a boundary', { permissionsBoundary: 'boundary' }],
    ['no dashboard', { dashboard: false }],
  ])('stays unchanged when the next deployment has %s', (_what, change) => {
    for (const id of [ledger, secret]) {
      expect(resources()[id]).toBeDefined();
      expect(resources(change)[id]).toEqual(resources()[id]);
    }
  });

  it('has the id, the type and the key that it had beside the state machine of large baselines', () => {
    const baseline = { atOnce: 4 };
    const after = resources({ integrations: [{ ...district, baseline }] });
    expect(JSON.stringify(after)).not.toContain('StepFunctions');
    expect(after).toMatchObject({
      [ledger]: {
        Type: 'AWS::DynamoDB::GlobalTable',
        Properties: { KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }] },
      },
      [secret]: { Type: 'AWS::SecretsManager::Secret' },
      NotifierTopicsKeyA35F5ECF: { Type: 'AWS::KMS::Key' },
      NotifierTopicsEventsF6B847A1: { Type: 'AWS::SNS::Topic' },
      NotifierTopicsAlerts9E909467: { Type: 'AWS::SNS::Topic' },
      NotifierTopicsOperations9294FF07: { Type: 'AWS::SNS::Topic' },
      NotifierUnstartedTicks30485CD5: { Type: 'AWS::SQS::Queue' },
      NotifierdistrictaLogs01E3003A: { Type: 'AWS::Logs::LogGroup' },
    });
    // A name of one's own replaces a resource, too.
    expect(JSON.stringify(after)).not.toMatch(/"(Table|Topic|Queue)Name":"/);
  });

  it('stays unchanged except for tags when the next deployment has tags: the ledger has its own', () => {
    const after = resources({ tags: { team: 'certification', stage: 'production' } });
    const Tags = [
      { Key: 'stage', Value: 'production' },
      { Key: 'team', Value: 'certification' },
    ];
    const replicas = listAt(resources()[ledger], 'Properties', 'Replicas');
    // All others have the stack's tags, which are not in the template.
    expect(after).toEqual({
      ...resources(),
      [ledger]: {
        ...resources()[ledger],
        Properties: {
          ...Object(at(resources()[ledger], 'Properties')),
          Replicas: replicas.map((replica) => ({ ...Object(replica), Tags })),
        },
      },
    });
  });
});

it.each([
  ['boundary', /"AWS::AccountId".*:policy\/boundary"/],
  ['arn:aws:iam::111122223333:policy/a/b', /^"arn:aws:iam::111122223333:policy\/a\/b"$/],
])('the permissions boundary %s is set on each role', (permissionsBoundary, expected) => {
  const roles = every(
    synthesized({ integrations: [district], permissionsBoundary }),
    'AWS::IAM::Role',
  );
  expect(roles).toHaveLength(3);
  for (const role of roles)
    expect(JSON.stringify(at(role, 'Properties', 'PermissionsBoundary'))).toMatch(expected);
});

// AWS evaluates the rule (not tried there).
it.each([
  ['us-east-1', 'aws', [], []],
  ['eu-west-1', 'aws', [/^keyArn: .*eu-west-1, the stack's region$/, /^pager/], [/^keyArn, pager/]],
  ['cn-north-1', 'aws-cn', [/^keyArn/, /^pager/, /^subscr.*"aws-cn"/], [/^keyArn/, /^subscr/]],
])(
  'ARNs of another place are refused in %s, where the CDK deploys there, and by a rule of the template',
  (region, partition, problems, refused) => {
    const elsewhere = { integrations: [district], keyArn, pagerTopicArn, subscriptions: [queue] };
    const made = synthesized(elsewhere).toJSON();
    const resolver = new Resolver(templateSchema.parse(made), {
      ...{ stackName: 'notifier', accountId: '111122223333', sqsEndpoint: '', region, partition },
    });
    const failed = listAt(made, 'Rules', 'NotifierPlacesBEBA4818', 'Assertions').flatMap((one) => {
      const [place, here] = listAt(one, 'Assert', 'Fn::Equals');
      const value = resolver.resolve(z.json().parse(place), 'rule');
      return value === here ? [] : [at(one, 'AssertDescription')];
    });
    expect(failed).toEqual(refused.map((start) => expect.stringMatching(start)));
    vi.stubEnv('CDK_DEFAULT_REGION', region);
    const found = refusals(() => buildApp(parseConfig(elsewhere), { bundle: false }));
    expect(found).toEqual(problems.map((one) => expect.stringMatching(one)));
  },
);

it.each([
  ['us-gov-west-1', 2],
  ['us-east-1', 0],
])(
  'a pipe and a function with a URL in %s get %d warnings of services that AWS may lack there',
  (region, count) => {
    vi.stubEnv('CDK_DEFAULT_REGION', region);
    const config = parseConfig({ integrations: [district], subscriptions: [bus] });
    const { node } = buildApp(config, { bundle: false, demo: true });
    const told = node.findAll().flatMap((one) => one.node.metadata.map(({ data }) => String(data)));
    expect(told.filter((text) => text.includes(`may be missing in ${region}`))).toHaveLength(count);
  },
);

describe('the outputs of the stack', () => {
  it.each([
    ['us-east-1', 'aws', 'console.aws.amazon.com'],
    ['cn-north-1', 'aws-cn', 'console.amazonaws.cn'],
    ['us-gov-west-1', 'aws-us-gov', 'console.amazonaws-us-gov.com'],
    ['eusc-de-east-1', 'aws-eusc', 'console.amazonaws-eusc.eu'],
  ])('lead to the dashboard in %s, of the partition %s', (region, partition, host) => {
    const understood = templateSchema.parse(template.toJSON());
    const resolver = new Resolver(understood, {
      ...{ stackName: 'notifier', accountId: '111122223333', sqsEndpoint: '', region },
      partition,
    });
    const { Value = null } = understood.Outputs.Dashboard ?? {};
    expect(resolver.resolve(Value, 'Dashboard')).toMatch(
      `https://${region}.${host}/cloudwatch/home?region=${region}#dashboards/dashboard/`,
    );
  });

  it('have the map that brings the ledger into a new stack by `cdk import`, as the page has', () => {
    const { id } = only(template, 'AWS::DynamoDB::GlobalTable');
    const { Value } = template.findOutputs('KeptOnDestroy').KeptOnDestroy ?? {};
    const map = [`{"${id}":{"TableName":"`, { Ref: id }, '"}}'];
    expect(Value).toEqual({ 'Fn::Join': ['', map] });
    expect(readFileSync('docs/operations.md', 'utf8')).toContain(`{"${id}": {"TableName":`);
  });
});
