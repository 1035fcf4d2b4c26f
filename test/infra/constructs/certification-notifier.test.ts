import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack, Validations } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { Construct } from 'constructs';
import { describe, expect, it } from 'vitest';
import cdkJson from '../../../cdk.json' with { type: 'json' };
import { CertificationNotifier, type CertificationNotifierProps } from '../../../infra/index.ts';
import { at, district, every, only } from '../synthesized.ts';
import { theirApp, theirStack } from './their-app.ts';

const watched = { integrations: [district] } satisfies CertificationNotifierProps;
const everything = {
  topic: 'fifo',
  integrations: [district, { ...district, name: 'district-b' }],
  subscriptions: [
    { topic: 'events', protocol: 'sqs', endpoint: { newQueue: 'payroll' } },
    { topic: 'alerts', protocol: 'email', endpoint: 'office@district-a.example.org' },
  ],
  subscriberAccounts: ['444455556666'],
  pagerTopicArn: 'arn:aws:sns:us-east-1:111122223333:pager',
} satisfies CertificationNotifierProps;

/** A stack with a notifier, and its template. */
function made(props: CertificationNotifierProps = everything, stack = theirStack()) {
  const notifier = new CertificationNotifier(stack, 'Notifier', props);
  return { stack, notifier, template: Template.fromStack(stack) };
}

/** Lists in policies have no order. */
const unordered = (template: unknown): unknown =>
  JSON.parse(JSON.stringify(template), (_key, value) =>
    Array.isArray(value)
      ? value.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      : value,
  );

describe('in a stack of another team, a notifier', () => {
  it('is the same with any feature flags of the CDK', () => {
    const [without, withAll] = [{}, cdkJson.context].map((flags) =>
      unordered(made(everything, theirStack(theirApp(flags))).template.toJSON()),
    );
    expect(without).toEqual(withAll);
  });

  it('leaves outputs and tags to the stack', () => {
    const { template } = made();
    expect(template.findOutputs('*')).toEqual({});
    expect(JSON.stringify(template.toJSON())).not.toContain('"Tags"');
  });

  it('takes a key of the app, and lets the same principals in as with its own key', () => {
    const policyOf = (template: Template) =>
      unordered(at(only(template, 'AWS::KMS::Key').resource, 'Properties', 'KeyPolicy'));
    const stack = theirStack();
    const key = new kms.Key(stack, 'Key');
    const { notifier, template } = made({ ...everything, key }, stack);
    expect(notifier.key).toBe(key);
    expect(policyOf(template)).toEqual(policyOf(made().template));
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

  it('has outputs of the same names also if the stack has constructs of the same ids', () => {
    const outputsIn = (stack: Stack) => {
      new CertificationNotifier(stack, 'Notifier', everything).addOutputs();
      return Object.keys(Template.fromStack(stack).findOutputs('*'));
    };
    const names = outputsIn(theirStack());
    expect(names).toContain('Dashboard');
    const stack = theirStack();
    for (const name of names) new Construct(stack, name);
    expect(outputsIn(stack)).toEqual(names);
  });

  it('has alarms whose names differ with the name of the stack', () => {
    const stack = new Stack(theirApp(), 'Theirs', { stackName: 'theirs-test' });
    const pages = every(made(everything, stack).template, 'AWS::CloudWatch::CompositeAlarm');
    expect(pages.map((page) => at(page, 'Properties', 'AlarmName'))).toEqual(
      everything.integrations.map(() => ({
        'Fn::Join': ['', [{ Ref: 'AWS::StackName' }, expect.stringMatching(/^-./)]],
      })),
    );
  });
});

/** Names that the creator of a resource chooses. A role's policies have their own. */
const physicalName =
  /^((Table|Topic|Role|Alarm|Dashboard|StateMachine|LogGroup|Alias|Schedule)?Name)$/;

describe('two notifiers of a stack', () => {
  const stack = theirStack();
  const runbookUrl = 'https://wiki.example.org/operations';
  const [first, second] = [{ runbookUrl }, {}].map(
    (more, index) => new CertificationNotifier(stack, `N${index}`, { ...everything, ...more }),
  );
  const template = Template.fromStack(stack);

  it('have no physical name in common', () => {
    const names = Object.values(template.toJSON().Resources ?? {}).flatMap((resource) =>
      Object.entries(Object(at(resource, 'Properties')))
        .filter(([property]) => physicalName.test(property))
        .map(([, name]) => `${at(resource, 'Type')} ${JSON.stringify(name)}`),
    );
    expect(names).not.toEqual([]);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  });

  it('have alarms on their own ticks only, each with its own runbook', () => {
    for (const [notifier, page] of [
      [first, runbookUrl],
      [second, 'docs/operations.md'],
    ] as const)
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName: 'TicksCompleted',
        Dimensions: Match.arrayWith([
          { Name: 'integration', Value: 'district-a' },
          { Name: 'ledger', Value: stack.resolve(notifier?.table.tableName) },
        ]),
        AlarmDescription: Match.stringLikeRegexp(`\nRunbook: ${page}#no-completed-tick$`),
      });
  });
});

it('people on call may be allowed the commands, and no more', () => {
  const stack = theirStack();
  const notifier = new CertificationNotifier(stack, 'Notifier', watched);
  const onDuty = new iam.Role(stack, 'OnDuty', { assumedBy: new iam.AccountRootPrincipal() });
  notifier.grantOperate(onDuty);
  const { resource } = only(Template.fromStack(stack), 'AWS::IAM::Policy');
  const granted = [at(resource, 'Properties', 'PolicyDocument', 'Statement')].flat();
  const { operate, schedule, selfCheck } = { ...notifier.integrations.get('district-a') };
  expect(granted.map((one) => [at(one, 'Action'), at(one, 'Resource')])).toEqual([
    ['cloudformation:DescribeStacks', { Ref: 'AWS::StackId' }],
    ['lambda:InvokeFunction', stack.resolve(operate?.functionArn)],
    ['scheduler:GetSchedule', stack.resolve([schedule?.scheduleArn, selfCheck?.scheduleArn])],
  ]);
});
