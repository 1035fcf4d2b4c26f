import { SecretValue, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as kms from 'aws-cdk-lib/aws-kms';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { CertificationNotifier, type WatchedIntegration } from '../../../infra/index.ts';
import { environment } from '../../../lambda/names.ts';
import { at, district, every, only, permissions, roleOf, statementsOf } from '../synthesized.ts';
import { theirApp, theirStack } from './their-app.ts';

function watching(stack: Stack, settings: Partial<WatchedIntegration>) {
  return new CertificationNotifier(stack, 'Notifier', {
    integrations: [{ ...district, ...settings }],
  });
}

describe('a secret of the app', () => {
  const stack = theirStack();
  const encryptionKey = new kms.Key(stack, 'Key');
  const secret = new Secret(stack, 'Partner', {
    secretStringValue: SecretValue.unsafePlainText('{"client_id":"","client_secret":""}'),
    encryptionKey,
  });
  const notifier = watching(stack, { secret });
  notifier.addOutputs();
  const template = Template.fromStack(stack);
  const arn = stack.resolve(secret.secretArn);
  const readers = ['districtaPoll', 'districtaOperate'];

  it('may be read and decrypted by its two functions, and no other secret', () => {
    for (const reader of readers) {
      const role = roleOf(template, 'lambda.amazonaws.com', reader);
      expect(permissions(role).get('secretsmanager:GetSecretValue')).toEqual([arn]);
      const decrypting = statementsOf(role).filter(
        (one) => at(one, 'Sid') === 'DecryptCredentials',
      );
      const ViaService = { 'Fn::Join': ['', expect.arrayContaining(['secretsmanager.'])] };
      expect(decrypting).toMatchObject([
        {
          ...{ Action: 'kms:Decrypt', Resource: stack.resolve(encryptionKey.keyArn) },
          Condition: {
            StringEquals: { 'kms:ViaService': ViaService },
            StringLike: { 'kms:EncryptionContext:SecretARN': arn },
          },
        },
      ]);
    }
    const others = every(template, 'AWS::IAM::Role').filter((role) =>
      permissions(role).has('secretsmanager:GetSecretValue'),
    );
    expect(others).toHaveLength(readers.length);
  });

  it("replaces the notifier's own secret, and its owner fills it", () => {
    only(template, 'AWS::SecretsManager::Secret');
    const outputs = template.findOutputs('*');
    expect(outputs.SecretDistrictA).toMatchObject({ Value: arn });
    expect(Object.keys(outputs)).not.toContain('FillSecretDistrictA');
    for (const one of every(template, 'AWS::Lambda::Function'))
      expect(at(one, 'Properties', 'Environment', 'Variables', environment.secret)).toEqual(arn);
    expect(notifier.integrations.get('district-a')?.secret).toMatchObject({ isNew: false });
  });
});

describe('the id of a secret in the requests of ticks', () => {
  const ours = 'arn:aws:secretsmanager:us-east-1:111122223333:secret:partner-AbC1dE';
  const ofOthers = ours.replace('111122223333', '444455556666');
  const partial = ofOthers.slice(0, -7);
  const env = { account: '111122223333', region: 'us-east-1' };

  it.each<[(stack: Stack) => ISecret, string]>([
    [(stack) => Secret.fromSecretCompleteArn(stack, 'Partner', ours), ours],
    [(stack) => Secret.fromSecretCompleteArn(stack, 'Partner', ofOthers), ofOthers],
    // A name is looked up in the function's own account.
    [(stack) => Secret.fromSecretPartialArn(stack, 'Partner', partial), partial],
    // A name that ends like an ARN is mistaken for one within an ARN, and not alone.
    [(stack) => Secret.fromSecretNameV2(stack, 'Partner', 'partner-abc123'), 'partner-abc123'],
  ])('of %s is %s', (secretIn, id) => {
    for (const stack of [theirStack(), new Stack(theirApp(), 'Theirs', { env })]) {
      const notifier = watching(stack, { secret: secretIn(stack) });
      expect(notifier.integrations.get('district-a')?.secret.id).toBe(id);
    }
  });
});
