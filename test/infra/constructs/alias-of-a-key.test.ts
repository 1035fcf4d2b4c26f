import * as kms from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { CertificationNotifier, type WatchedIntegration } from '../../../infra/index.ts';
import { district } from '../synthesized.ts';
import { problemsOf, theirStack } from './their-app.ts';

// A permission with a key's alias has no effect: IAM knows keys by their ARNs only.
describe("a key's alias is refused, and the key itself is not", () => {
  const stack = theirStack();
  const itself = new kms.Key(stack, 'Key');
  const alias = new kms.Alias(stack, 'Alias', { aliasName: 'alias/partner', targetKey: itself });
  const named = kms.Alias.fromAliasName(stack, 'Named', 'alias/partner');
  const arn = 'arn:aws:kms:us-east-1:111122223333:alias/partner';
  const ways: [string, kms.IKey][] = [
    ['made by the app', alias],
    ['looked up by its name', named],
    ['in the ARN of a key', kms.Key.fromKeyArn(stack, 'By its ARN', arn)],
  ];
  const withKey = (id: string, key: kms.IKey) =>
    problemsOf(() => new CertificationNotifier(stack, id, { integrations: [district], key }));
  const withSecret = (id: string, settings: Partial<WatchedIntegration>) =>
    problemsOf(
      () => new CertificationNotifier(stack, id, { integrations: [{ ...district, ...settings }] }),
    );
  const encryptedWith = (id: string, encryptionKey: kms.IKey) =>
    withSecret(`${id}, of a secret`, {
      secret: new Secret(stack, `Secret ${id}`, { encryptionKey }),
    });

  it.each(ways)('%s', (way, key) => {
    expect(withKey(way, key)).toEqual([
      expect.stringMatching(/^key: an alias found; allowed: the key itself, .*aliasTargetKey/),
    ]);
    expect(encryptedWith(way, key)).toEqual([
      expect.stringMatching(
        /^integrations\[0\]\.secret: one whose encryptionKey is an alias found; allowed: .*aliasTargetKey/,
      ),
    ]);
  });

  it('itself', () => {
    expect(withKey('itself', alias.aliasTargetKey)).toEqual([]);
    expect(encryptedWith('itself', itself)).toEqual([]);
  });

  it('in an ARN that the CDK makes', () => {
    const secret = Secret.fromSecretNameV2(stack, 'Partner', 'partner');
    expect(withSecret('ARN of an alias', { secret, secretKeyArn: named.keyArn })).toEqual([
      expect.stringMatching(/^integrations\[0\]\.secretKeyArn: .* \(not of an alias\)$/),
    ]);
    expect(withSecret('ARN', { secret, secretKeyArn: itself.keyArn })).toEqual([]);
  });
});
