import * as cdk from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { buildApp } from '../../infra/build-app.ts';
import { parseConfig } from '../../infra/config.ts';
import { demoConfig } from '../../infra/demo.ts';
import { at, only, permissions, roleOf } from './synthesized.ts';

const app = buildApp(parseConfig(demoConfig), { bundle: false, demo: true });
const stack = app.node.findChild('certification-notifier-demo');
if (!(stack instanceof cdk.Stack)) throw new Error('the app has no stack of the demo');
const template = Template.fromStack(stack);

it('the demo keeps nothing when it is deleted, and can be deleted', () => {
  const policies = Object.values(template.toJSON().Resources).map((one) =>
    at(one, 'DeletionPolicy'),
  );
  expect(new Set(policies)).toEqual(new Set(['Delete']));
  const { resource } = only(template, 'AWS::DynamoDB::GlobalTable');
  expect(at(resource, 'Properties', 'Replicas')).toMatchObject([
    { DeletionProtectionEnabled: false },
  ]);
  expect(stack.terminationProtection).toBe(false);
  expect(at(template.toJSON(), 'Description')).toContain('Deleting it keeps nothing.');
});

// AWS, "Control access to Lambda function URLs": since October 2025 a URL needs both permissions.
it('the demo lets everybody call the URL, by the URL alone', () => {
  template.hasResourceProperties('AWS::Lambda::Url', { AuthType: 'NONE' });
  template.hasResourceProperties('AWS::Lambda::Permission', {
    Action: 'lambda:InvokeFunctionUrl',
    FunctionUrlAuthType: 'NONE',
    Principal: '*',
  });
  template.hasResourceProperties('AWS::Lambda::Permission', {
    Action: 'lambda:InvokeFunction',
    InvokedViaFunctionUrl: true,
    Principal: '*',
  });
});

it("the demo's sandbox may read its secret and write its log, and no more", () => {
  const granted = permissions(roleOf(template, 'lambda', 'Sandbox'));
  expect([...granted.keys()]).toEqual([
    'secretsmanager:GetSecretValue',
    'logs:CreateLogStream',
    'logs:PutLogEvents',
  ]);
  expect([...granted.values()].flat()).not.toContain('*');
});

it("the demo's notifier uses a random secret that no template holds", () => {
  const { id, resource } = only(template, 'AWS::SecretsManager::Secret');
  expect(at(resource, 'Properties', 'SecretString')).toBeUndefined();
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: {
      Variables: Match.objectLike({
        SECRET_ID: { Ref: id },
        STACK_NAME: 'certification-notifier-demo',
      }),
    },
  });
});
