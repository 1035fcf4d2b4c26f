import { Annotations, CfnRule, Fn, type IResource, Resource, Stack, Token } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { Construct } from 'constructs';
import type { NotifierSettings } from '../config.ts';
import { describedValue, settingAt } from '../config-error.ts';
import { placedArns, placeIn } from './placed-arns.ts';
import { isAliasArn, isDeferred, isUnrouted } from './words.ts';

// Checks that depend on the place of the deployment and on constructs of the app. Each returns one line for each
// problem.

/** A key in the context of an app that is not deployed: its partner may be on this machine. */
export const runsLocally = 'certification-notifier:runs-locally';

/** AWS cannot reach addresses of this machine and its network. */
export function outOfReach({ integrations }: NotifierSettings): string[] {
  return integrations.flatMap(({ baseUrl }, index) =>
    refused(settingAt(['integrations', index, 'baseUrl']), [
      [
        !isDeferred(baseUrl) && isUnrouted(baseUrl),
        describedValue(baseUrl),
        'a host that AWS can reach; this one is for `npm start`',
      ],
    ]),
  );
}

/** The region of a stack, also of one without: the CDK's command line says where it deploys. */
export function regionOf(stack: Stack): string {
  const { CDK_DEFAULT_REGION } = process.env;
  return (Token.isUnresolved(stack.region) && CDK_DEFAULT_REGION) || stack.region;
}

/** ARNs that AWS would refuse in the stack's region. No problem is found while a region is unknown. */
export function ofOtherPlaces(settings: NotifierSettings, region: string): string[] {
  if (Token.isUnresolved(region)) return [];
  const { partition } = RegionInfo.get(region);
  return placedArns(settings).flatMap(({ path, arn, within }) => {
    const [here, what] =
      within === 'Region'
        ? [region, `${region}, the stack's region`]
        : [partition, `the partition ${describedValue(partition)}, the stack's`];
    const isElsewhere = here !== undefined && placeIn(arn, within) !== here;
    return refused(settingAt(path), [[isElsewhere, describedValue(arn), `an ARN of ${what}`]]);
  });
}

/** cfn-lint 1.51 knows no such resource there. Its data may be late, so this is no refusal. */
const missingIn = {
  'AWS::Pipes::Pipe':
    'ap-east-2 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-west-1 il-central-1 mx-central-1 us-gov-east-1 us-gov-west-1',
  'AWS::Lambda::Url':
    'ap-east-2 ap-south-2 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-west-1 cn-northwest-1 eu-central-2 eu-south-2 il-central-1 me-central-1 mx-central-1 us-gov-east-1 us-gov-west-1',
} as const;

/** Warns where a deployment might fail half-way for want of a service. */
export function warnWhereMissing(scope: Construct, type: keyof typeof missingIn): void {
  const region = regionOf(Stack.of(scope));
  if (missingIn[type].split(' ').includes(region))
    Annotations.of(scope).addWarningV2(
      'certification-notifier:missing-in-region',
      `${type} may be missing in ${region}, by the data of cfn-lint: then the deployment fails. Look whether AWS has it there by now; if so, acknowledge this warning.`,
    );
}

/**
 * The same as a rule of the template, which may be deployed to another region than it was made for: CloudFormation
 * refuses it before it creates anything.
 */
export function ruleOfPlaces(scope: Construct, settings: NotifierSettings): void {
  const places = Map.groupBy(
    placedArns(settings),
    ({ arn, within }) => `${within} ${placeIn(arn, within)}`,
  );
  const assertions = [...places].map(([place, arns]) => {
    const [within = '', here = ''] = place.split(' ');
    const names = arns.map(({ path }) => settingAt(path)).join(', ');
    return {
      assert: Fn.conditionEquals(Fn.ref(`AWS::${within}`), here),
      assertDescription: `${names}: of the ${within.toLowerCase()} ${here}, and the stack is deployed to another.`,
    };
  });
  if (assertions.length > 0) new CfnRule(scope, 'Places', { assertions });
}

/** Problems with a key of the app. A region or an account that is unknown is none. */
export function unusableKey(
  key: IKey,
  { keyArn }: NotifierSettings,
  { region, account }: Place,
): string[] {
  return [
    ...refused('key', [
      ofAnotherRegion('key', key, region),
      // The permission that alarms need is written into a key's policy for the account of the key. In another account,
      // it lets in nobody of this account, and CloudWatch drops its alarms silently.
      [
        differ(account, key.env.account),
        `a key of account ${describedValue(key.env.account)}`,
        `one of ${account}, the stack's account; of another, only its ARN (keyArn), with a policy that its owner keeps`,
      ],
      // The policy of a key that is only looked up cannot be extended from here, and the CDK does not say so.
      [
        !isAlias(key) && !Resource.isOwnedResource(key),
        'a key that is only looked up',
        'one that the app makes, or its ARN (keyArn), with a policy that its owner keeps',
      ],
      [isAlias(key), 'an alias', theKeyItself],
    ]),
    ...refused('keyArn', [[keyArn !== undefined, describedValue(keyArn), 'none beside key']]),
  ];
}

/** Problems with secrets of the app. A region that is unknown is none. */
export function unusableSecrets({ integrations }: NotifierSettings, { region }: Place): string[] {
  return integrations.flatMap(({ secret }, index) =>
    secret === undefined
      ? []
      : refused(settingAt(['integrations', index, 'secret']), [
          ofAnotherRegion('secret', secret, region),
          [
            secret.encryptionKey !== undefined && isAlias(secret.encryptionKey),
            'one whose encryptionKey is an alias',
            theKeyItself,
          ],
        ]),
  );
}

/** Of a stack. */
interface Place {
  readonly region: string;
  readonly account: string;
}

/** IAM knows keys only by their ARNs: a permission for an alias has no effect, and AWS does not say so. */
const theKeyItself = "the key itself, such as the alias's aliasTargetKey";

type Refusal = readonly [isRefused: boolean, found: string, allowed: string];

const refused = (where: string, refusals: readonly Refusal[]) =>
  refusals.flatMap(([isRefused, found, allowed]) =>
    isRefused ? `${where}: ${found} found; allowed: ${allowed}` : [],
  );

const ofAnotherRegion = (what: string, { env }: IResource, region: string): Refusal => [
  differ(region, env.region),
  `a ${what} of ${describedValue(env.region)}`,
  `one of ${region}, the stack's region`,
];

const differ = (here: string, there: string) =>
  !Token.isUnresolved(here) && !Token.isUnresolved(there) && here !== there;

const isAlias = (key: IKey) => 'aliasName' in key || isAliasArn(key.keyArn);
