import { SecretValue, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as kms from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import {
  CertificationNotifier,
  ConfigError,
  type WatchedIntegration,
} from '../../../infra/index.ts';
import { environment } from '../../../lambda/names.ts';
import { at, district, only, permissions, roleOf, statementsOf } from '../synthesized.ts';
import { problemsOf, theirApp, theirStack } from './their-app.ts';

const keyArn = `arn:aws:kms:us-east-1:111122223333:key/mrk-${'0'.repeat(32)}`;
const secretArn = 'arn:aws:secretsmanager:us-east-1:111122223333:secret:partner-AbC1dE';

function watching(stack: Stack, settings: Partial<WatchedIntegration>) {
  return new CertificationNotifier(stack, 'Notifier', {
    integrations: [{ ...district, ...settings }],
  });
}
const roles = ['districtaPoll', 'districtaOperate', 'districtaBaseline'] as const;

describe('a secret of the app', () => {
  const stack = theirStack();
  const key = new kms.Key(stack, 'Key');
  const secret = new Secret(stack, 'Partner', {
    secretStringValue: SecretValue.unsafePlainText('{"client_id":"","client_secret":""}'),
    encryptionKey: key,
  });
  const notifier = watching(stack, { secret, baseline: 'fan-out' });
  notifier.addOutputs();
  const template = Template.fromStack(stack);
  const arn = stack.resolve(secret.secretArn);

  it.each(roles)('may be read by its function, and by no other: %s', (role) => {
    const granted = permissions(roleOf(template, 'lambda.amazonaws.com', role));
    expect(granted.get('secretsmanager:GetSecretValue')).toEqual([arn]);
    template.resourcePropertiesCountIs('AWS::IAM::Role', {}, 6);
  });

  it.each(roles)('may be decrypted with its key, and no other secret: %s', (role) => {
    const statements = statementsOf(roleOf(template, 'lambda.amazonaws.com', role));
    expect(statements.filter((one) => at(one, 'Sid') === 'DecryptCredentials')).toMatchObject([
      {
        Action: 'kms:Decrypt',
        Resource: stack.resolve(key.keyArn),
        Condition: {
          StringEquals: {
            'kms:ViaService': {
              'Fn::Join': [
                '',
                ['secretsmanager.', expect.anything(), expect.anything(), expect.anything()],
              ],
            },
          },
          StringLike: { 'kms:EncryptionContext:SecretARN': arn },
        },
      },
    ]);
  });

  it("replaces the notifier's own secret, and its owner fills it", () => {
    only(template, 'AWS::SecretsManager::Secret');
    const outputs = template.findOutputs('*');
    expect(outputs.SecretDistrictA).toMatchObject({ Value: arn });
    expect(Object.keys(outputs)).not.toContain('FillSecretDistrictA');
    const { resource } = only(template, 'AWS::Lambda::Function', {
      Description: 'One tick: announces changes among the assessments of district-a',
    });
    expect(at(resource, 'Properties', 'Environment', 'Variables', environment.secret)).toEqual(arn);
    expect(notifier.integrations.get('district-a')?.secret).toMatchObject({ isNew: false });
  });
});

describe('a secret from outside of the app', () => {
  const templateOf = (settings: (stack: Stack) => Partial<WatchedIntegration>) => {
    const stack = theirStack();
    watching(stack, settings(stack));
    return Template.fromStack(stack).toJSON();
  };

  it('may be named by the setting or by the CDK, with the same result', () => {
    expect(
      templateOf((stack) => ({ secret: Secret.fromSecretNameV2(stack, 'Partner', 'partner') })),
    ).toEqual(templateOf(() => ({ secretName: 'partner' })));
  });

  it('may have a customer key, named by the setting or known to the CDK, with the same result', () => {
    const secretPartialArn = secretArn.slice(0, -7);
    expect(
      templateOf((stack) => ({
        secret: Secret.fromSecretAttributes(stack, 'Partner', {
          secretPartialArn,
          encryptionKey: kms.Key.fromKeyArn(stack, 'Key', keyArn),
        }),
      })),
    ).toEqual(
      templateOf((stack) => ({
        secret: Secret.fromSecretPartialArn(stack, 'Partner', secretPartialArn),
        secretKeyArn: keyArn,
      })),
    );
  });
});

describe('the id of a secret in the requests of ticks', () => {
  const ofOthers = secretArn.replace('111122223333', '444455556666');
  const complete = (stack: Stack, arn: string) =>
    Secret.fromSecretCompleteArn(stack, 'Partner', arn);
  const partial = (stack: Stack, arn: string) =>
    Secret.fromSecretPartialArn(stack, 'Partner', arn.slice(0, -7));

  it.each([
    ['by its ARN', (stack: Stack) => complete(stack, secretArn), secretArn],
    ['by its ARN, of another account', (stack: Stack) => complete(stack, ofOthers), ofOthers],
    // A name is looked up in the function's own account.
    [
      'by the known part of its ARN, of another account',
      (stack: Stack) => partial(stack, ofOthers),
      ofOthers.slice(0, -7),
    ],
    // A name that ends like an ARN is mistaken for one within an ARN, and not alone.
    [
      'by its name',
      (stack: Stack) => Secret.fromSecretNameV2(stack, 'Partner', 'partner-abc123'),
      'partner-abc123',
    ],
  ])('is a secret %s', (_, secretIn, id) => {
    const env = { account: '111122223333', region: 'us-east-1' };
    for (const stack of [theirStack(), new Stack(theirApp(), 'Theirs', { env })]) {
      const notifier = watching(stack, { secret: secretIn(stack) });
      expect(notifier.integrations.get('district-a')?.secret.id).toBe(id);
    }
  });
});

describe('a mistake about a secret is one line', () => {
  const stack = new Stack(theirApp(), 'Theirs', { env: { region: 'us-east-1' } });
  const named = Secret.fromSecretNameV2(stack, 'Named', 'partner');
  const withKey = Secret.fromSecretAttributes(stack, 'With key', {
    secretCompleteArn: secretArn,
    encryptionKey: kms.Key.fromKeyArn(stack, 'Key', keyArn),
  });
  const abroad = Secret.fromSecretCompleteArn(
    stack,
    'Abroad',
    secretArn.replace('us-east-1', 'eu-west-1'),
  );

  it.each<[string, object, string]>([
    [
      'beside a name',
      { secret: named, secretName: 'partner' },
      'secretName: "partner" found; allowed: none beside `secret`',
    ],
    ['that has a key already', { secret: withKey, secretKeyArn: keyArn }, 'secretKeyArn: '],
    [
      'that is a name',
      { secret: 'partner' },
      'secret: "partner" found; allowed: an ISecret of the CDK',
    ],
    ['that is null', { secret: null }, 'secret: null found; allowed: an ISecret of the CDK'],
    [
      'of another region',
      { secret: abroad },
      'secret: a secret of "eu-west-1" found; allowed: one of us-east-1',
    ],
    [
      'under an unknown setting',
      { secrets: named },
      'secrets: unknown setting; allowed: an object with name, ',
    ],
  ])('%s', (what, settings, line) => {
    const problems = problemsOf(() =>
      Reflect.construct(CertificationNotifier, [
        stack,
        what,
        { integrations: [{ ...district, ...settings }] },
      ]),
    );
    expect(problems).toEqual([expect.stringContaining(`integrations[0].${line}`)]);
  });

  it('and that one is among the known settings', () => {
    const act = () =>
      Reflect.construct(CertificationNotifier, [
        stack,
        'Wrong',
        { integrations: [{ secrets: named }] },
      ]);
    expect(problemsOf(act)).toContainEqual(
      expect.stringMatching(/^integrations\[0\]\.secrets: unknown setting; allowed: .*, secret$/),
    );
  });

  it('shared by two integrations of one partner', () => {
    const integrations = ['a', 'b'].map((name) => ({ ...district, name, secret: named }));
    expect(problemsOf(() => new CertificationNotifier(stack, 'Shared', { integrations }))).toEqual([
      expect.stringMatching(
        /^integrations\[1\]\.secret: an object found; .* both announce everything$/,
      ),
    ]);
  });

  it('in the configuration file, which knows names only', async () => {
    const { parseConfig } = await import('../../../infra/config.ts');
    expect(() => parseConfig({ integrations: [{ ...district, secret: named }] })).toThrow(
      ConfigError,
    );
  });
});
