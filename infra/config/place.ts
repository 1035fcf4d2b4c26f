import { type IResource, Resource, Token } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { NotifierSettings } from '../config.ts';
import { describedValue, settingAt } from '../config-error.ts';
import { isAliasArn, isDeferred, isUnrouted } from './words.ts';

// Checks that depend on the place of the deployment and on constructs of the app. Each returns one line for each
// problem.

/** A key in the context of an app that is not deployed: its partner may be on this machine. */
export const runsLocally = 'certification-notifier:runs-locally';

/** AWS cannot reach addresses of this machine and its network. */
export function outOfReach({ integrations }: NotifierSettings): string[] {
  return integrations.flatMap(({ baseUrl }, index) =>
    !isDeferred(baseUrl) && isUnrouted(baseUrl)
      ? found(
          ['integrations', index, 'baseUrl'],
          baseUrl,
          'a host that AWS can reach; this one is for `npm start`',
        )
      : [],
  );
}

/** Settings that AWS takes only in the stack's own region. No problem is found while a region is unknown. */
export function ofOtherRegions(settings: NotifierSettings, region: string): string[] {
  const arns: [PropertyKey[], string | undefined][] = [
    [['keyArn'], settings.keyArn],
    [['pagerTopicArn'], settings.pagerTopicArn],
    ...settings.integrations.map(({ secretKeyArn }, index): [PropertyKey[], string | undefined] => [
      ['integrations', index, 'secretKeyArn'],
      secretKeyArn,
    ]),
  ];
  return arns.flatMap(([path, arn]) =>
    arn === undefined ||
    Token.isUnresolved(region) ||
    Token.isUnresolved(arn) ||
    arn.split(':')[3] === region
      ? []
      : found(path, arn, `an ARN of ${region}, the stack's region`),
  );
}

/** The same for constructs of the app: a key, the secrets. */
export function thingsOfOtherRegions(
  { integrations }: NotifierSettings,
  key: IResource | undefined,
  region: string,
): string[] {
  const things: [PropertyKey[], string, IResource | undefined][] = [
    [['key'], 'key', key],
    ...integrations.map(({ secret }, index): [PropertyKey[], string, IResource | undefined] => [
      ['integrations', index, 'secret'],
      'secret',
      secret,
    ]),
  ];
  return things.flatMap(([path, what, thing]) =>
    thing === undefined ||
    Token.isUnresolved(region) ||
    Token.isUnresolved(thing.env.region) ||
    thing.env.region === region
      ? []
      : `${settingAt(path)}: a ${what} of ${describedValue(thing.env.region)} found; allowed: one of ${region}, the stack's region`,
  );
}

/**
 * The permission that alarms need is written into a key's policy for the account of the key. In another account, it
 * lets in nobody of this account, and CloudWatch drops its alarms silently. No problem is found while an account is
 * unknown.
 */
export function keyOfAnotherAccount(key: IResource | undefined, account: string): string[] {
  return key === undefined ||
    Token.isUnresolved(account) ||
    Token.isUnresolved(key.env.account) ||
    key.env.account === account
    ? []
    : [
        `key: a key of account ${describedValue(key.env.account)} found; allowed: one of ${account}, the stack's account; of another, only its ARN (keyArn), with a policy that its owner keeps`,
      ];
}

/** The policy of a key that is only looked up cannot be extended from here, and the CDK does not say so. */
export function keyLookedUp(key: IKey | undefined): string[] {
  return key === undefined || isAlias(key) || Resource.isOwnedResource(key)
    ? []
    : [
        'key: a key that is only looked up found; allowed: one that the app makes, or its ARN (keyArn), with a policy that its owner keeps',
      ];
}

/** IAM knows keys only by their ARNs: a permission for an alias has no effect, and AWS does not say so. */
export function keysByAlias({ integrations }: NotifierSettings, key: IKey | undefined): string[] {
  const keys: [PropertyKey[], string, IKey | undefined][] = [
    [['key'], '', key],
    ...integrations.map(({ secret }, index): [PropertyKey[], string, IKey | undefined] => [
      ['integrations', index, 'secret'],
      'one whose encryptionKey is ',
      secret?.encryptionKey,
    ]),
  ];
  return keys.flatMap(([path, what, key]) =>
    key !== undefined && isAlias(key)
      ? `${settingAt(path)}: ${what}an alias found; allowed: the key itself, such as the alias's aliasTargetKey`
      : [],
  );
}

const isAlias = (key: IKey) => 'aliasName' in key || isAliasArn(key.keyArn);

const found = (path: readonly PropertyKey[], value: string, allowed: string) => [
  `${settingAt(path)}: ${describedValue(value)} found; allowed: ${allowed}`,
];
