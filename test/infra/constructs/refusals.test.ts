import { Stack } from 'aws-cdk-lib';
import * as kms from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { CertificationNotifier, ConfigError } from '../../../infra/index.ts';
import { keyArn, pagerTopicArn, refusals } from '../config/settings.ts';
import { district } from '../synthesized.ts';
import { theirApp, theirStack } from './their-app.ts';

const env = { account: '111122223333', region: 'us-east-1' };
const app = theirApp();
const stack = new Stack(app, 'Theirs', { env });
const keyOf = (elsewhere: Partial<typeof env>) =>
  new kms.Key(
    new Stack(app, `In-${Object.values(elsewhere).join('-')}`, { env: elsewhere }),
    'Key',
  );

const ownKey = new kms.Key(stack, 'Key');
const madeAlias = new kms.Alias(stack, 'Alias', { aliasName: 'alias/a', targetKey: ownKey });
const namedAlias = kms.Alias.fromAliasName(stack, 'Named', 'alias/partner');
const aliasArn = 'arn:aws:kms:us-east-1:111122223333:alias/partner';
const aliases = [madeAlias, namedAlias, kms.Key.fromKeyArn(stack, 'By its ARN', aliasArn)];
const encryptedWith = (encryptionKey: kms.IKey) =>
  new Secret(stack, `Secret with ${encryptionKey.node.id}`, { encryptionKey });
const secretArn = 'arn:aws:secretsmanager:us-east-1:111122223333:secret:partner-AbC1dE';
const named = Secret.fromSecretNameV2(stack, 'Named secret', 'partner');
const withKey = Secret.fromSecretAttributes(stack, 'Secret with a key', {
  secretCompleteArn: secretArn,
  encryptionKey: kms.Key.fromKeyArn(stack, 'Key of a secret', keyArn),
});
const abroad = (arn: string) => arn.replace('us-east-1', 'eu-west-1');
const secretAbroad = Secret.fromSecretCompleteArn(stack, 'Abroad', abroad(secretArn));

const withDistrict = (settings: object) => ({ integrations: [{ ...district, ...settings }] });
const withSettings = (settings: object) => ({ integrations: [district], ...settings });
let notifiers = 0;
const problemsWith = (settings: unknown) => {
  notifiers += 1;
  const made = [stack, `Notifier${notifiers}`, settings];
  return refusals(() => Reflect.construct(CertificationNotifier, made));
};

const ofStack = { stackName: 'x', tags: {}, permissionsBoundary: 'x', terminationProtection: true };

type Refusal = [line: RegExp, settings: unknown, ...more: RegExp[]];

it.each<Refusal>([
  [/^integrations: nothing found; allowed: /, undefined],
  [
    /^stackName: unknown setting; allowed: /,
    withSettings(ofStack),
    ...[/^tags: unknown setting/, /^permissionsBoundary: unknown setting/],
    /^terminationProtection: unknown setting/,
  ],
  [
    /^integrations\[0\]\.baseUrl: "https.*" found; allowed: a host that AWS can reach; this one is for `npm start`$/,
    withDistrict({ baseUrl: 'https://10.1.2.3' }),
  ],
  [
    /^keyArn: .* found; allowed: an ARN of us-east-1, the stack's region$/,
    {
      ...withDistrict({ secretName: 'partner', secretKeyArn: abroad(keyArn) }),
      ...{ keyArn: abroad(keyArn), pagerTopicArn: abroad(pagerTopicArn) },
    },
    /^pagerTopicArn: .*eu-west-1.* found; allowed: an ARN of us-east-1/,
    /^integrations\[0\]\.secretKeyArn: .* found; allowed: .*us-east-1/,
  ],
  [/^keyArn: .* found; allowed: none beside key$/, withSettings({ key: ownKey, keyArn })],
  [
    /^key: a key of "eu-west-1" found; allowed: one of us-east-1, the stack's region$/,
    withSettings({ key: keyOf({ region: 'eu-west-1' }) }),
  ],
  // The policy of such a key would let in nobody, and alarms would be lost.
  [
    /^key: a key that is only looked up found; allowed: one that the app makes, or its ARN \(keyArn\)/,
    withSettings({ key: kms.Key.fromKeyArn(stack, 'Looked up', keyArn) }),
  ],
  [
    /^key: a key of account "444455556666" found; allowed: one of 111122223333, the stack's account/,
    withSettings({ key: keyOf({ region: 'us-east-1', account: '444455556666' }) }),
  ],
  // A permission with a key's alias has no effect: IAM knows keys by their ARNs only.
  ...aliases.flatMap((key): Refusal[] => [
    [/^key: an alias found; allowed: the key itself, .*aliasTargetKey/, withSettings({ key })],
    [
      /^integrations\[0\]\.secret: one whose encryptionKey is an alias found; allowed: .*aliasTargetKey/,
      withDistrict({ secret: encryptedWith(key) }),
    ],
  ]),
  [
    /^integrations\[0\]\.secretKeyArn: .* \(not of an alias\)$/,
    withDistrict({ secret: named, secretKeyArn: namedAlias.keyArn }),
  ],
  [
    /^integrations\[0\]\.secretName: "partner" found; allowed: none beside `secret`/,
    withDistrict({ secret: named, secretName: 'partner' }),
  ],
  [/^integrations\[0\]\.secretKeyArn: /, withDistrict({ secret: withKey, secretKeyArn: keyArn })],
  [
    /^integrations\[0\]\.secret: "partner" found; allowed: an ISecret of the CDK/,
    withDistrict({ secret: 'partner' }),
  ],
  [/^integrations\[0\]\.secret: null found/, withDistrict({ secret: null })],
  [
    /^integrations\[0\]\.secret: a secret of "eu-west-1" found; allowed: one of us-east-1/,
    withDistrict({ secret: secretAbroad }),
  ],
  [
    /^integrations\[0\]\.secrets: unknown setting; allowed: an object with name, .*, secret$/,
    withDistrict({ secrets: named }),
  ],
  [
    /^integrations\[1\]\.secret: an object found; .* both announce everything$/,
    { integrations: ['a', 'b'].map((name) => ({ ...district, name, secret: named })) },
  ],
])('a notifier in a stack of another team refuses: %s', (line, settings, ...more) => {
  expect(problemsWith(settings)).toEqual([line, ...more].map((one) => expect.stringMatching(one)));
});

it.each<[what: string, settings: object]>([
  ['a key of the app', { key: ownKey }],
  ["an alias's key", { key: madeAlias.aliasTargetKey }],
  ['a key of the same place in another stack', { key: keyOf(env) }],
  ['a key of an account that is unknown yet', { key: keyOf({ region: 'us-east-1' }) }],
  ['the ARN of a topic of the app', { pagerTopicArn: new Topic(stack, 'Pager').topicArn }],
  ['a secret with a key', withDistrict({ secret: encryptedWith(ownKey) })],
  ['the ARN of a key of the app', withDistrict({ secret: named, secretKeyArn: ownKey.keyArn })],
])('a notifier in a stack of another team takes %s', (_, settings) => {
  expect(problemsWith(withSettings(settings))).toEqual([]);
});

describe('a mistake', () => {
  it('is named with the place of the construct', () => {
    const integrations = [{ ...district, every: 0 }];
    const line =
      'integrations[0].every: 0 found; allowed: minutes between two ticks, a whole number from 1 to 60';
    expect(() => new CertificationNotifier(stack, 'Notifier', { integrations })).toThrow(
      new ConfigError([line], 'the configuration of Theirs/Notifier'),
    );
  });

  it('is outputs of two notifiers in a stack, or twice of one', () => {
    const place = theirStack();
    const [first, second] = ['First', 'Second'].map(
      (id) => new CertificationNotifier(place, id, { integrations: [district] }),
    );
    first?.addOutputs();
    for (const one of [first, second])
      expect(refusals(() => one?.addOutputs())).toEqual([
        expect.stringMatching(/^addOutputs: .* already; allowed: once in a stack.* of its own$/),
      ]);
  });
});
