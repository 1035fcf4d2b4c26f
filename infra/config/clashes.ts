import type * as z from 'zod';
import { describedValue, settingAt } from '../config-error.ts';
import { maxResources, resourcesOf } from './limits.ts';
import { maxIntegrations, type NotifierSettings } from './notifier.ts';
import { placedArns, placeIn } from './placed-arns.ts';
import { type Clash, tooLargePolicies } from './policy-sizes.ts';
import { isChat, newQueueOf, placeOf, type SubscriptionConfig } from './subscription.ts';

/**
 * A refinement of the settings as a whole. It runs even when some of them are wrong, so that one run reports all
 * problems, and looks only at those without a problem of their own. A list is one setting.
 */
export function refuseClashes(
  value: NotifierSettings,
  problems: z.core.$RefinementCtx<NotifierSettings>,
): void {
  const wrong = new Set(problems.issues.map(({ path = [] }) => path[0]));
  const sound = <K extends keyof NotifierSettings, T>(name: K, otherwise: T) =>
    wrong.has(name) ? otherwise : value[name];
  const settings = {
    ...value,
    topic: sound('topic', 'standard' as const),
    keyArn: sound('keyArn', undefined),
    pagerTopicArn: sound('pagerTopicArn', undefined),
    integrations: sound('integrations', []),
    subscriptions: sound('subscriptions', []),
  };
  const clashes = [
    ...sharedBy(settings),
    ...teamsOfTwoTenants(settings),
    ...strangeRegions(settings),
    ...unknownIntegrations(settings),
    ...(wrong.has('alerts') ? [] : digestsBetweenTicks(settings)),
    ...(wrong.has('topic') ? [] : unfitForTheTopic(settings)),
    ...tooMuchForAStack(settings),
    ...tooLargePolicies(settings.subscriptions),
  ];
  for (const { path, message } of clashes)
    problems.addIssue({ code: 'custom', path: [...path], message });
}

/** Values that two integrations, or two subscriptions, may not share. */
function sharedBy({ integrations, subscriptions }: NotifierSettings): Clash[] {
  // Secrets with other names may hold the same credentials. Only the partner can tell.
  const credentials =
    'a secret that no other integration with this baseUrl has: two with the same credentials both announce everything';
  return [
    ...repeated(
      ['integrations', 'name'],
      integrations.map(({ name }) => bare(name)),
      'a name that no other integration has (hyphens do not count)',
    ),
    ...repeated(
      ['integrations', 'secretName'],
      integrations.map(({ secretName, baseUrl }) => secretName && `${secretName} ${baseUrl}`),
      credentials,
    ),
    ...repeated(
      ['integrations', 'secret'],
      integrations.map(({ secret, baseUrl }) => secret && `${secret.secretArn} ${baseUrl}`),
      credentials,
    ),
    ...repeated(
      ['subscriptions'],
      subscriptions.map((one) =>
        one.endpoint !== undefined && !newQueueOf(one)
          ? `${one.topic} ${one.protocol} ${one.endpoint}`
          : undefined,
      ),
      'a topic and endpoint not yet subscribed (SNS keeps one filter for each)',
    ),
    ...repeated(
      ['subscriptions', 'endpoint', 'newQueue'],
      subscriptions.map((one) => bare(newQueueOf(one)?.newQueue)),
      'a name that no other new queue has (hyphens do not count; a queue takes one subscription)',
    ),
    ...repeated(
      ['subscriptions', 'bus'],
      subscriptions.map((one) => one.bus),
      'a bus that no other subscription has: rules on the bus choose the receivers of each event',
    ),
    ...repeated(
      ['subscriptions', 'protocol'],
      subscriptions.map(({ protocol }) => (protocol === 'archive' ? protocol : undefined)),
      'one archive in a stack: it keeps its integrations apart by itself',
    ),
    ...repeated(
      ['subscriptions', 'channel'],
      subscriptions.map((one) => (isChat(one) ? `${one.topic} ${placeOf(one)}` : undefined)),
      'a channel that this topic does not have yet',
    ),
  ];
}

/** A problem of each element whose key an earlier one has. Undefined: the element has no such key. */
function repeated(
  [list, ...setting]: readonly [string, ...string[]],
  keys: readonly (string | undefined)[],
  message: string,
): Clash[] {
  return keys.flatMap((key, index) =>
    key !== undefined && keys.indexOf(key) < index
      ? { path: [list, index, ...setting], message }
      : [],
  );
}

/** CloudFormation's logical ids have no hyphens, so `a-1` and `a1` would be one output. */
const bare = (name: string | undefined) => name?.replaceAll('-', '');

/** A channel has one configuration for all of its topics, so a second tenant would be dropped without a word. */
function teamsOfTwoTenants({ subscriptions }: NotifierSettings): Clash[] {
  return subscriptions.flatMap((one, index) => {
    if (one.protocol !== 'teams') return [];
    const first = subscriptions.findIndex((other) => other.team === one.team);
    const other = subscriptions[first];
    return other?.protocol === 'teams' && other.tenant !== one.tenant
      ? {
          path: ['subscriptions', index, 'tenant'],
          message: `the tenant of subscriptions[${first}]: a team belongs to one tenant`,
        }
      : [];
  });
}

/** ARNs in the region of the stack, or at least in its partition, have to agree about it. */
function strangeRegions(settings: NotifierSettings): Clash[] {
  const arns = placedArns(settings);
  const first = arns.find(({ within }) => within === 'Region') ?? arns[0];
  return arns.flatMap(({ path, arn, within }) => {
    if (!first || first.path === path) return [];
    const [partition, region] = [placeIn(first.arn, 'Partition'), placeIn(first.arn, 'Region')];
    const as = `as ${settingAt(first.path)} is`;
    if (placeIn(arn, 'Partition') !== partition)
      return { path, message: `an ARN of the partition ${describedValue(partition)}, ${as}` };
    if (within === 'Region' && placeIn(arn, 'Region') !== region)
      return {
        path,
        message: `an ARN of ${describedValue(region)}, ${as}: both are of the region that is deployed to`,
      };
    return [];
  });
}

function unknownIntegrations({ integrations, subscriptions }: NotifierSettings): Clash[] {
  const names = integrations.map(({ name }) => name);
  if (names.length === 0) return [];
  return subscriptions.flatMap(({ filter }, subscriber) =>
    (filter?.integrations ?? []).flatMap((name, index) =>
      names.includes(name)
        ? []
        : {
            path: ['subscriptions', subscriber, 'filter', 'integrations', index],
            message: `the name of a configured integration (${names.map(describedValue).join(', ')})`,
          },
    ),
  );
}

function digestsBetweenTicks({ alerts, integrations }: NotifierSettings): Clash[] {
  const shortest = Math.min(...integrations.map(({ every }) => every));
  if (integrations.length === 0) return [];
  if (alerts.digestEvery === undefined || alerts.digestEvery >= shortest) return [];
  return [
    {
      path: ['alerts', 'digestEvery'],
      message: `at least the shortest \`every\` (${shortest}), or none: every tick then sends its own`,
    },
  ];
}

function unfitForTheTopic({ topic, subscriptions }: NotifierSettings): Clash[] {
  return subscriptions.flatMap((one, index) => {
    const isFifo = topic === 'fifo' && one.topic === 'events';
    return Object.entries(isFifo ? unfitForFifo(one) : unfitForStandard(one)).map(
      ([setting, message]) => ({ path: ['subscriptions', index, setting], message }),
    );
  });
}

type Unfit = Readonly<Record<string, string>>;

/** "Message delivery for FIFO topics" in the Amazon SNS developer guide. */
function unfitForFifo({ protocol }: SubscriptionConfig): Unfit {
  const only = "'sqs', 'event-bus' or 'archive': a FIFO topic delivers to queues only";
  switch (protocol) {
    case 'email':
    case 'email-json':
      return { protocol: `${only} (mail gets the digests of the topic 'alerts')` };
    case 'https':
    case 'lambda':
      return { protocol: `${only} (a queue can feed a function)` };
    default:
      return {};
  }
}

function unfitForStandard({ topic, protocol, ...rest }: SubscriptionConfig): Unfit {
  if (protocol === 'sqs' && String(rest.endpoint).endsWith('.fifo'))
    return { endpoint: 'a standard queue: a FIFO queue cannot subscribe to a standard topic' };
  // Here, and not in the schema of mail: a FIFO topic takes no mail, intended or not.
  const isMail = protocol === 'email' || protocol === 'email-json';
  if (isMail && topic === 'events' && !rest.mailPerEvent)
    return {
      topic:
        "'alerts', whose digests are for people; or mailPerEvent: true, if one mail for each event is wanted",
    };
  return {};
}

function tooMuchForAStack(settings: NotifierSettings): Clash[] {
  const { length } = settings.integrations;
  const resources = resourcesOf(settings);
  if (length > maxIntegrations || resources <= maxResources) return [];
  return [
    {
      path: ['subscriptions'],
      message: `fewer: with ${length} integrations they would be ${resources} resources, and CloudFormation takes ${maxResources} (a second deployment needs another stackName)`,
    },
  ];
}
