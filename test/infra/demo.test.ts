import * as cdk from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { expect, it, vi } from 'vitest';
import { buildApp } from '../../infra/build-app.ts';
import { parseConfig } from '../../infra/config.ts';
import { demoConfig } from '../../infra/demo.ts';
import { run } from '../../infra/run.ts';
import { RunningProgram } from '../support/running.ts';
import { at, only, permissions, roleOf } from './synthesized.ts';

const app = buildApp(parseConfig(demoConfig), { bundle: false, demo: true });
const stack = app.node.findChild('certification-notifier-demo');
if (!(stack instanceof cdk.Stack)) throw new Error('the app has no stack of the demo');
const template = Template.fromStack(stack);

it('the demo keeps nothing when it is deleted, and can be deleted', () => {
  const kept = Object.entries(template.toJSON().Resources).filter(
    ([, resource]) =>
      at(resource, 'DeletionPolicy') !== 'Delete' && at(resource, 'DeletionPolicy') !== undefined,
  );
  expect(kept).toEqual([]);
  expect(JSON.stringify(only(template, 'AWS::DynamoDB::GlobalTable').resource)).toContain(
    '"DeletionProtectionEnabled":false',
  );
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

async function synthesis(context: object) {
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ 'aws:cdk:bundling-stacks': [], ...context }));
  return new RunningProgram(run, []).ended;
}

it.each([
  ['another value than true', { demo: 'yes' }, 'demo: "yes" found; allowed: true, or none'],
  [
    'an environment beside it',
    { demo: 'true', env: 'staging' },
    'env: "staging" found; allowed: none beside demo',
  ],
])('%s is refused in one line', async (_, context, problem) => {
  const { exitCode, stderr } = await synthesis(context);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(problem);
});
