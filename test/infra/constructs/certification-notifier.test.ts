import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack, Validations } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { Construct } from 'constructs';
import { describe, expect, it } from 'vitest';
import cdkJson from '../../../cdk.json' with { type: 'json' };
import {
  CertificationNotifier,
  type CertificationNotifierProps,
  ConfigError,
} from '../../../infra/index.ts';
import { stackOutputs } from '../../../infra/output-names.ts';
import { at, district, only } from '../synthesized.ts';
import { problemsOf, theirApp, theirStack } from './their-app.ts';

const watched = { integrations: [district] } satisfies CertificationNotifierProps;
const everything = {
  topic: 'fifo',
  integrations: [district, { ...district, name: 'district-b', baseline: 'fan-out' }],
  subscriptions: [
    { topic: 'events', protocol: 'sqs', endpoint: { newQueue: 'payroll' } },
    { topic: 'alerts', protocol: 'email', endpoint: 'office@district-a.example.org' },
  ],
  subscriberAccounts: ['444455556666'],
  pagerTopicArn: 'arn:aws:sns:us-east-1:111122223333:pager',
} satisfies CertificationNotifierProps;

/** Lists in policies have no order. */
const unordered = (template: unknown): unknown =>
  JSON.parse(JSON.stringify(template), (_key, value) =>
    Array.isArray(value)
      ? value.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      : value,
  );

describe('in a stack of another team', () => {
  it('is the same with any feature flags of the CDK', () => {
    const [without, withAll] = [{}, cdkJson.context].map((flags) => {
      const stack = theirStack(theirApp(flags));
      new CertificationNotifier(stack, 'Notifier', everything);
      return unordered(Template.fromStack(stack).toJSON());
    });
    expect(without).toEqual(withAll);
  });

  it('leaves outputs, tags and protection to the stack', () => {
    const stack = theirStack();
    new CertificationNotifier(stack, 'Notifier', watched);
    const template = Template.fromStack(stack);
    expect(template.findOutputs('*')).toEqual({});
    expect(JSON.stringify(template.toJSON())).not.toContain('"Tags"');
    for (const setting of ['stackName', 'tags', 'permissionsBoundary', 'terminationProtection'])
      expect(
        problemsOf(() => new CertificationNotifier(stack, setting, { ...watched, [setting]: 'x' })),
      ).toEqual([expect.stringMatching(new RegExp(`^${setting}: unknown setting; allowed: `))]);
  });

  it('names mistakes in its settings by the same lines as the configuration, with its place', () => {
    const stack = theirStack();
    const wrong = { integrations: [{ ...district, every: 0 }] };
    expect(() => new CertificationNotifier(stack, 'Notifier', wrong)).toThrow(
      new ConfigError(
        [
          'integrations[0].every: 0 found; allowed: minutes between two ticks, a whole number from 1 to 60',
        ],
        'the configuration of Theirs/Notifier',
      ),
    );
  });

  it.each(['http://localhost:3000', 'http://127.0.0.1:3000', 'https://10.1.2.3'])(
    'refuses a partner that AWS cannot reach: %s',
    (baseUrl) => {
      const integrations = [{ ...district, baseUrl }];
      expect(
        problemsOf(() => new CertificationNotifier(theirStack(), 'Notifier', { integrations })),
      ).toEqual([
        `integrations[0].baseUrl: "${baseUrl}" found; allowed: a host that AWS can reach; this one is for \`npm start\``,
      ]);
    },
  );

  it('refuses resources of another region than its stack, as AWS would', () => {
    const stack = new Stack(theirApp(), 'Theirs', { env: { region: 'eu-west-1' } });
    const keyArn = `arn:aws:kms:us-east-1:111122223333:key/mrk-${'0'.repeat(32)}`;
    const pagerTopicArn = 'arn:aws:sns:us-east-1:111122223333:pager';
    const problems = problemsOf(
      () =>
        new CertificationNotifier(stack, 'Notifier', {
          integrations: [{ ...district, secretName: 'partner', secretKeyArn: keyArn }],
          keyArn,
          pagerTopicArn,
        }),
    );
    expect(problems).toEqual([
      expect.stringMatching(/^keyArn: .* found; allowed: an ARN of eu-west-1, the stack's region$/),
      expect.stringMatching(/^pagerTopicArn: .*us-east-1.* found; allowed: an ARN of eu-west-1/),
      expect.stringMatching(/^integrations\[0\]\.secretKeyArn: .* found; allowed: .*eu-west-1/),
    ]);
  });

  it('accepts a key of the app, and lets the same principals in as with its own key', () => {
    const keyPolicyOf = (stack: Stack) =>
      unordered(
        [
          at(
            only(Template.fromStack(stack), 'AWS::KMS::Key').resource,
            'Properties',
            'KeyPolicy',
            'Statement',
          ),
        ].flat(),
      );
    const [own, theirs] = [theirStack(), theirStack()];
    new CertificationNotifier(own, 'Notifier', everything);
    const key = new kms.Key(theirs, 'Key');
    const notifier = new CertificationNotifier(theirs, 'Notifier', { ...everything, key });
    expect(notifier.key).toBe(key);
    expect(keyPolicyOf(theirs)).toEqual(keyPolicyOf(own));
    const { keyArn } = key;
    expect(
      problemsOf(() => new CertificationNotifier(theirs, 'Two', { ...everything, key, keyArn })),
    ).toEqual([expect.stringMatching(/^keyArn: .* found; allowed: none beside key$/)]);
  });

  it('accepts resources of the app in place of ARNs', () => {
    const stack = theirStack();
    const pager = new sns.Topic(stack, 'Pager');
    const reader = new iam.Role(stack, 'Reader', { assumedBy: new iam.AccountRootPrincipal() });
    new CertificationNotifier(stack, 'Notifier', {
      ...watched,
      pagerTopicArn: pager.topicArn,
      subscriptions: [
        {
          topic: 'events',
          protocol: 'sqs',
          endpoint: { newQueue: 'payroll', readers: [reader.roleArn] },
        },
      ],
    });
    const { resource } = only(Template.fromStack(stack), 'AWS::CloudWatch::CompositeAlarm');
    expect(at(resource, 'Properties', 'AlarmActions')).toEqual([stack.resolve(pager.topicArn)]);
  });

  it("has no findings of cdk-nag, and hides none of the app's", () => {
    const app = theirApp();
    const stack = theirStack(app);
    new CertificationNotifier(stack, 'Notifier', everything);
    new sqs.Queue(stack, 'Own', { enforceSSL: true });
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).toThrow('AwsSolutions');
    const report = readFileSync(join(app.outdir, 'validation-report.json'), 'utf8');
    expect(report.match(/(?<="constructPath": ")[^"]+/g)).toEqual(['Theirs/Own/Resource']);
  });
});

/** Names that the creator of a resource chooses. A role's policies have their own. */
const physicalName =
  /^((Table|Topic|Role|Alarm|Dashboard|StateMachine|LogGroup|Alias|Schedule)?Name)$/;

describe("a mistake in the app's code", () => {
  it('is one line instead of a crash: no settings', () => {
    const stack = theirStack();
    expect(problemsOf(() => Reflect.construct(CertificationNotifier, [stack, 'Notifier']))).toEqual(
      [expect.stringMatching(/^integrations: nothing found; allowed: /)],
    );
  });

  it('is one line instead of a crash: outputs of two notifiers, or twice of one', () => {
    const stack = theirStack();
    const notifier = new CertificationNotifier(stack, 'Notifier', watched);
    const second = new CertificationNotifier(stack, 'Second', watched);
    notifier.addOutputs();
    for (const one of [notifier, second])
      expect(problemsOf(() => one.addOutputs())).toEqual([
        expect.stringMatching(/^addOutputs: .* already; allowed: once in a stack.* of its own$/),
      ]);
  });

  it('is one line instead of a crash: a key of another region', () => {
    const app = theirApp();
    const stack = new Stack(app, 'Theirs', { env: { region: 'eu-west-1' } });
    const withKeyIn = (region: string) => {
      const key = new kms.Key(new Stack(app, `In-${region}`, { env: { region } }), 'Key');
      return problemsOf(
        () => new CertificationNotifier(stack, `For ${region}`, { ...watched, key }),
      );
    };
    expect(withKeyIn('us-east-1')).toEqual([
      'key: a key of "us-east-1" found; allowed: one of eu-west-1, the stack\'s region',
    ]);
    expect(withKeyIn('eu-west-1')).toEqual([]);
  });

  it('is one line instead of lost alarms: a key that is only looked up', () => {
    const stack = new Stack(theirApp(), 'Theirs');
    const keyArn = `arn:aws:kms:us-east-1:111122223333:key/mrk-${'0'.repeat(32)}`;
    const key = kms.Key.fromKeyArn(stack, 'Key', keyArn);
    expect(
      problemsOf(() => new CertificationNotifier(stack, 'Notifier', { ...watched, key })),
    ).toEqual([
      'key: a key that is only looked up found; allowed: one that the app makes, or its ARN (keyArn), with a policy that its owner keeps',
    ]);
  });

  it('is one line instead of lost alarms: a key of another account', () => {
    const app = theirApp();
    const region = 'eu-west-1';
    const stack = new Stack(app, 'Theirs', { env: { region, account: '111122223333' } });
    const problemsWithKeyOf = (env: { region: string; account?: string }) => {
      const home = new Stack(app, `Of ${env.account}`.replaceAll(' ', '-'), { env });
      const key = new kms.Key(home, 'Key');
      return problemsOf(
        () => new CertificationNotifier(stack, `For ${env.account}`, { ...watched, key }),
      );
    };
    expect(problemsWithKeyOf({ region, account: '444455556666' })).toEqual([
      'key: a key of account "444455556666" found; allowed: one of 111122223333, the stack\'s account; of another, only its ARN (keyArn), with a policy that its owner keeps',
    ]);
    expect(problemsWithKeyOf({ region, account: '111122223333' })).toEqual([]);
    // The account is unknown yet.
    expect(problemsWithKeyOf({ region })).toEqual([]);
  });
});

describe('the outputs of a notifier', () => {
  it('have their names also if the stack has constructs of the same ids', () => {
    const namesIn = (stack: Stack) => {
      new CertificationNotifier(stack, 'Notifier', everything).addOutputs();
      return Object.keys(Template.fromStack(stack).findOutputs('*'));
    };
    const names = namesIn(theirStack());
    const stack = theirStack();
    for (const name of names) new Construct(stack, name);
    expect(names).toContain('Dashboard');
    expect(namesIn(stack)).toEqual(names);
  });

  it('belong to one notifier of each stack: two in one app are two stacks', () => {
    const app = theirApp();
    const stacks = ['One', 'Two'].map((id) => new Stack(app, id));
    for (const stack of stacks) new CertificationNotifier(stack, 'Notifier', watched).addOutputs();
    for (const stack of stacks)
      expect(Template.fromStack(stack).findOutputs('LedgerTableName')).not.toEqual({});
  });
});

describe('two notifiers', () => {
  const stack = theirStack();
  const [first, second] = ['First', 'Second'].map(
    (id) => new CertificationNotifier(stack, id, everything),
  );
  const template = Template.fromStack(stack);
  const resources = Object.values(template.toJSON().Resources ?? {});

  it('have separate resources in one stack, and no physical name in common', () => {
    template.resourceCountIs('AWS::DynamoDB::GlobalTable', 2);
    template.resourceCountIs('AWS::SNS::Topic', 6);
    const names = resources.flatMap((resource) =>
      Object.entries(Object(at(resource, 'Properties')))
        .filter(([property]) => physicalName.test(property))
        .map(([, name]) => `${at(resource, 'Type')} ${JSON.stringify(name)}`),
    );
    expect(names).not.toEqual([]);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  });

  it('may have the same path in an app, in stacks that differ in their names only', () => {
    const deployed = new Stack(theirApp(), 'Theirs', { stackName: 'theirs-test' });
    new CertificationNotifier(deployed, 'First', everything);
    const pages = Template.fromStack(deployed).findResources('AWS::CloudWatch::CompositeAlarm');
    expect(Object.values(pages).map((page) => at(page, 'Properties', 'AlarmName'))).toEqual(
      everything.integrations.map(() => ({
        'Fn::Join': ['', [{ Ref: 'AWS::StackName' }, expect.stringMatching(/^-./)]],
      })),
    );
  });

  it('have a runbook each', () => {
    const apart = theirStack();
    const runbookUrl = 'https://wiki.example.org/operations';
    new CertificationNotifier(apart, 'First', { ...watched, runbookUrl });
    new CertificationNotifier(apart, 'Second', watched);
    for (const page of [runbookUrl, 'docs/operations.md'])
      Template.fromStack(apart).hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmDescription: Match.stringLikeRegexp(`\nRunbook: ${page}#failing$`),
      });
  });

  it('have alarms on their own ticks only, also with integrations of the same name', () => {
    for (const notifier of [first, second])
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName: 'TicksCompleted',
        Dimensions: Match.arrayWith([
          { Name: 'integration', Value: 'district-a' },
          { Name: 'ledger', Value: stack.resolve(notifier?.table.tableName) },
        ]),
      });
  });
});

describe('people on call', () => {
  it('may be allowed the commands, and no more', () => {
    const stack = theirStack();
    const notifier = new CertificationNotifier(stack, 'Notifier', watched);
    const onDuty = new iam.Role(stack, 'OnDuty', { assumedBy: new iam.AccountRootPrincipal() });
    notifier.addOutputs();
    notifier.grantOperate(onDuty);
    const template = Template.fromStack(stack);
    const { resource } = only(template, 'AWS::IAM::Policy');
    const granted = [at(resource, 'Properties', 'PolicyDocument', 'Statement')].flat();
    expect(
      granted.map((statement) => [at(statement, 'Action'), at(statement, 'Resource')]),
    ).toEqual([
      ['cloudformation:DescribeStacks', { Ref: 'AWS::StackId' }],
      [
        'lambda:InvokeFunction',
        stack.resolve(notifier.integrations.get('district-a')?.operate.functionArn),
      ],
      [
        'scheduler:GetSchedule',
        [
          stack.resolve(notifier.integrations.get('district-a')?.schedule.scheduleArn),
          stack.resolve(notifier.integrations.get('district-a')?.selfCheck.scheduleArn),
        ],
      ],
    ]);
    expect(Object.keys(template.findOutputs('*'))).toContain(
      stackOutputs.operateFunction('district-a'),
    );
  });
});
