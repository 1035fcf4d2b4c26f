import { Stack } from 'aws-cdk-lib';
import * as kms from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { CertificationNotifier, ConfigError } from '../../../infra/index.ts';
import { keyArn, pagerTopicArn } from '../config/settings.ts';
import { district } from '../synthesized.ts';
import { problemsOf, theirApp, theirStack } from './their-app.ts';

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
const aliases: readonly [string, kms.IKey][] = [
  ['made by the app', madeAlias],
  ['looked up by its name', namedAlias],
  ['in the ARN of a key', kms.Key.fromKeyArn(stack, 'By its ARN', aliasArn)],
];
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
const problemsWith = (id: string, settings: unknown, place = stack) =>
  problemsOf(() => Reflect.construct(CertificationNotifier, [place, id, settings]));

type Refusal = [what: string, settings: unknown, ...lines: RegExp[]];

it.each<Refusal>([
  ['no settings', undefined, /^integrations: nothing found; allowed: /],
  [
    'settings that belong to the stack',
    withSettings({
      stackName: 'x',
      tags: {},
      permissionsBoundary: 'x',
      terminationProtection: true,
    }),
    /^stackName: unknown setting; allowed: /,
    /^tags: unknown setting/,
    /^permissionsBoundary: unknown setting/,
    /^terminationProtection: unknown setting/,
  ],
  [
    'a partner that AWS cannot reach',
    withDistrict({ baseUrl: 'https://10.1.2.3' }),
    /^integrations\[0\]\.baseUrl: "https.*" found; allowed: a host that AWS can reach; this one is for `npm start`$/,
  ],
  [
    'resources of another region',
    {
      ...withDistrict({ secretName: 'partner', secretKeyArn: abroad(keyArn) }),
      keyArn: abroad(keyArn),
      pagerTopicArn: abroad(pagerTopicArn),
    },
    /^keyArn: .* found; allowed: an ARN of us-east-1, the stack's region$/,
    /^pagerTopicArn: .*eu-west-1.* found; allowed: an ARN of us-east-1/,
    /^integrations\[0\]\.secretKeyArn: .* found; allowed: .*us-east-1/,
  ],
  [
    'a key beside the ARN of one',
    withSettings({ key: ownKey, keyArn }),
    /^keyArn: .* found; allowed: none beside key$/,
  ],
  [
    'a key of another region',
    withSettings({ key: keyOf({ region: 'eu-west-1' }) }),
    /^key: a key of "eu-west-1" found; allowed: one of us-east-1, the stack's region$/,
  ],
  // The policy of such a key would let in nobody, and alarms would be lost.
  [
    'a key that is only looked up',
    withSettings({ key: kms.Key.fromKeyArn(stack, 'Looked up', keyArn) }),
    /^key: a key that is only looked up found; allowed: one that the app makes, or its ARN \(keyArn\)/,
  ],
  [
    'a key of another account',
    withSettings({ key: keyOf({ region: 'us-east-1', account: '444455556666' }) }),
    /^key: a key of account "444455556666" found; allowed: one of 111122223333, the stack's account/,
  ],
  // A permission with a key's alias has no effect: IAM knows keys by their ARNs only.
  ...aliases.flatMap(([way, key]): Refusal[] => [
    [
      `an alias for a key, ${way}`,
      withSettings({ key }),
      /^key: an alias found; allowed: the key itself, .*aliasTargetKey/,
    ],
    [
      `a secret with an alias for a key, ${way}`,
      withDistrict({ secret: encryptedWith(key) }),
      /^integrations\[0\]\.secret: one whose encryptionKey is an alias found; allowed: .*aliasTargetKey/,
    ],
  ]),
  [
    'an alias in an ARN that the CDK makes',
    withDistrict({ secret: named, secretKeyArn: namedAlias.keyArn }),
    /^integrations\[0\]\.secretKeyArn: .* \(not of an alias\)$/,
  ],
  [
    'a secret beside a name',
    withDistrict({ secret: named, secretName: 'partner' }),
    /^integrations\[0\]\.secretName: "partner" found; allowed: none beside `secret`/,
  ],
  [
    'a second key of a secret',
    withDistrict({ secret: withKey, secretKeyArn: keyArn }),
    /^integrations\[0\]\.secretKeyArn: /,
  ],
  [
    'a secret that is a name',
    withDistrict({ secret: 'partner' }),
    /^integrations\[0\]\.secret: "partner" found; allowed: an ISecret of the CDK/,
  ],
  [
    'a secret that is null',
    withDistrict({ secret: null }),
    /^integrations\[0\]\.secret: null found/,
  ],
  [
    'a secret of another region',
    withDistrict({ secret: secretAbroad }),
    /^integrations\[0\]\.secret: a secret of "eu-west-1" found; allowed: one of us-east-1/,
  ],
  [
    'a secret under an unknown setting',
    withDistrict({ secrets: named }),
    /^integrations\[0\]\.secrets: unknown setting; allowed: an object with name, .*, secret$/,
  ],
  [
    'a secret that two integrations of one partner share',
    { integrations: ['a', 'b'].map((name) => ({ ...district, name, secret: named })) },
    /^integrations\[1\]\.secret: an object found; .* both announce everything$/,
  ],
])('a notifier in a stack of another team refuses %s', (what, settings, ...lines) => {
  expect(problemsWith(what, settings)).toEqual(lines.map((line) => expect.stringMatching(line)));
});

it.each<[what: string, settings: object]>([
  ['a key of the app', { key: ownKey }],
  ["an alias's key", { key: madeAlias.aliasTargetKey }],
  ['a key of the same place in another stack', { key: keyOf(env) }],
  ['a key of an account that is unknown yet', { key: keyOf({ region: 'us-east-1' }) }],
  ['the ARN of a topic of the app', { pagerTopicArn: new Topic(stack, 'Pager').topicArn }],
  ['a secret with a key', withDistrict({ secret: encryptedWith(ownKey) })],
  ['the ARN of a key of the app', withDistrict({ secret: named, secretKeyArn: ownKey.keyArn })],
])('a notifier in a stack of another team takes %s', (what, settings) => {
  expect(problemsWith(what, withSettings(settings))).toEqual([]);
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
      expect(problemsOf(() => one?.addOutputs())).toEqual([
        expect.stringMatching(/^addOutputs: .* already; allowed: once in a stack.* of its own$/),
      ]);
  });
});
