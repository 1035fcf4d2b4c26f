import * as z from 'zod';
import { describedValue, settingAt } from '../config-error.ts';
import { maxIntegrations, maxResources, resourcesOf } from './limits.ts';
import { tooLargePolicies } from './policy-sizes.ts';
import { record } from './words.ts';

/** An object of settings whose combination is checked as well. */
export const withoutClashes = <T extends z.ZodRawShape>(shape: T) =>
  record(shape).superRefine(
    (value, problems) => {
      for (const { path, message } of clashesIn(value))
        problems.addIssue({ code: 'custom', path, message });
    },
    { when: () => true },
  );

interface Clash {
  readonly path: (string | number)[];
  readonly message: string;
}

// These checks run even when other settings are wrong, so that one run reports all problems. They read only the parts
// that they need, and skip values of another shape.
const textOrNothing = z.string().catch('');
/** A tenant of another form has a line of its own. */
const guidOrNothing = z.guid().catch('');
const numberOrNothing = z.number().optional().catch(undefined);
const nowhere = { address: '', arn: undefined, readers: [] };
const endpoint = z
  .union([
    z.string().transform((arn) => ({ address: arn, arn, readers: [] })),
    z
      .looseObject({ newQueue: z.string(), readers: z.array(textOrNothing).optional().catch([]) })
      .transform(({ newQueue, readers = [] }) => ({
        address: `new ${newQueue}`,
        arn: undefined,
        readers,
      })),
  ])
  .catch(nowhere);
const shape = z
  .looseObject({
    topic: textOrNothing,
    keyArn: textOrNothing,
    pagerTopicArn: textOrNothing,
    integrations: z
      .array(
        z
          .looseObject({
            name: textOrNothing,
            every: numberOrNothing,
            baseUrl: textOrNothing,
            secretName: textOrNothing,
            secretKeyArn: textOrNothing,
            // A construct of the CDK, in a foreign app.
            secret: z.object({ secretArn: textOrNothing }).catch({ secretArn: '' }),
          })
          .catch({
            name: '',
            every: undefined,
            baseUrl: '',
            secretName: '',
            secretKeyArn: '',
            secret: { secretArn: '' },
          }),
      )
      .catch([]),
    alerts: z.looseObject({ digestEvery: numberOrNothing }).catch({ digestEvery: undefined }),
    subscriptions: z
      .array(
        z
          .looseObject({
            topic: textOrNothing,
            protocol: textOrNothing,
            endpoint,
            bus: textOrNothing,
            mailPerEvent: z.boolean().catch(false),
            workspace: textOrNothing,
            tenant: guidOrNothing,
            team: textOrNothing,
            channel: textOrNothing,
            filter: z
              .looseObject({ integrations: z.array(textOrNothing).catch([]) })
              .catch({ integrations: [] }),
          })
          .catch({
            topic: '',
            protocol: '',
            endpoint: nowhere,
            bus: '',
            mailPerEvent: false,
            workspace: '',
            tenant: '',
            team: '',
            channel: '',
            filter: { integrations: [] },
          }),
      )
      .catch([]),
  })
  .catch({
    topic: '',
    keyArn: '',
    pagerTopicArn: '',
    integrations: [],
    alerts: { digestEvery: undefined },
    subscriptions: [],
  });

type Shape = z.output<typeof shape>;

function clashesIn(value: unknown): Clash[] {
  const config = shape.parse(value);
  return [
    ...sharedNames(config),
    ...sharedCredentials(config),
    ...sharedAddresses(config),
    ...sharedBuses(config),
    ...secondArchives(config),
    ...sharedChannels(config),
    ...teamsOfTwoTenants(config),
    ...strangeRegions(config),
    ...unknownIntegrations(config),
    ...digestsBetweenTicks(config),
    ...unfitForTheTopic(config),
    ...unintendedMail(config),
    ...tooMuchForAStack(config),
    ...tooLargePolicies(
      config.subscriptions.map(({ endpoint, ...rest }) => ({ ...rest, ...endpoint })),
    ),
  ];
}

/** CloudFormation's logical ids have no hyphens, so `a-1` and `a1` would be one output. */
const bare = (name: string) => name.replaceAll('-', '');

function sharedNames({ integrations }: Shape): Clash[] {
  const names = integrations.map(({ name }) => bare(name));
  return names.flatMap((name, index) =>
    name && names.indexOf(name) < index
      ? {
          path: ['integrations', index, 'name'],
          message: 'a name that no other integration has (hyphens do not count)',
        }
      : [],
  );
}

/** Secrets with other names may hold the same credentials. Only the partner can tell. */
function sharedCredentials({ integrations }: Shape): Clash[] {
  const used = integrations.map(({ baseUrl, secretName, secret: { secretArn } }) => ({
    way: secretName ? 'secretName' : 'secret',
    what: secretName || secretArn,
    baseUrl,
  }));
  return used.flatMap(({ way, what, baseUrl }, index) =>
    what && used.slice(0, index).some((other) => other.what === what && other.baseUrl === baseUrl)
      ? {
          path: ['integrations', index, way],
          message:
            'a secret that no other integration with this baseUrl has: two with the same credentials both announce everything',
        }
      : [],
  );
}

/** ARNs in the region of the stack, or at least in its partition, have to agree about it. */
function strangeRegions({ keyArn, pagerTopicArn, integrations, subscriptions }: Shape): Clash[] {
  const named: { path: (string | number)[]; arn: string; anyRegion?: boolean }[] = [
    { path: ['keyArn'], arn: keyArn },
    { path: ['pagerTopicArn'], arn: pagerTopicArn },
    ...integrations.map(({ secretKeyArn }, index) => ({
      path: ['integrations', index, 'secretKeyArn'],
      arn: secretKeyArn,
    })),
    ...subscriptions.map(({ endpoint }, index) => ({
      path: ['subscriptions', index, 'endpoint'],
      arn: endpoint.arn ?? '',
      anyRegion: true,
    })),
  ];
  const arns = named.flatMap(({ arn, ...rest }) => {
    const [scheme, partition = '', , region = ''] = arn.split(':');
    // In a foreign stack, an ARN may hold parts that only CloudFormation knows.
    return scheme === 'arn' && !arn.includes('${') ? { ...rest, partition, region } : [];
  });
  const first = arns.find(({ anyRegion }) => !anyRegion) ?? arns[0];
  return arns.flatMap(({ path, partition, region, anyRegion }) => {
    if (!first || first.path === path) return [];
    if (partition !== first.partition)
      return {
        path,
        message: `an ARN of the partition ${describedValue(first.partition)}, as ${settingAt(first.path)} is`,
      };
    if (!anyRegion && region !== first.region)
      return {
        path,
        message: `an ARN of ${describedValue(first.region)}, as ${settingAt(first.path)} is: both are of the region that is deployed to`,
      };
    return [];
  });
}

function sharedAddresses({ subscriptions }: Shape): Clash[] {
  const addresses = subscriptions.map(({ topic, protocol, endpoint }) =>
    // A new queue takes one subscription, even of another topic, since its outputs have its name.
    endpoint.arn === undefined
      ? bare(endpoint.address)
      : [topic, protocol, endpoint.address].join(' '),
  );
  return addresses.flatMap((address, index) =>
    subscriptions[index]?.endpoint.address && addresses.indexOf(address) < index
      ? {
          ...(subscriptions[index].endpoint.arn === undefined
            ? {
                path: ['subscriptions', index, 'endpoint', 'newQueue'],
                message:
                  'a name that no other new queue has (hyphens do not count; a queue takes one subscription)',
              }
            : {
                path: ['subscriptions', index],
                message: 'a topic and endpoint not yet subscribed (SNS keeps one filter for each)',
              }),
        }
      : [],
  );
}

function sharedBuses({ subscriptions }: Shape): Clash[] {
  const buses = subscriptions.map(({ bus }) => bus);
  return buses.flatMap((bus, index) =>
    bus && buses.indexOf(bus) < index
      ? {
          path: ['subscriptions', index, 'bus'],
          message:
            'a bus that no other subscription has: rules on the bus choose the receivers of each event',
        }
      : [],
  );
}

const channelOf = ({ workspace, team, channel }: Shape['subscriptions'][number]) =>
  channel && [workspace, team, channel].join(' ');

function sharedChannels({ subscriptions }: Shape): Clash[] {
  const told = subscriptions.map((one) => channelOf(one) && `${one.topic} ${channelOf(one)}`);
  return told.flatMap((channel, index) =>
    channel && told.indexOf(channel) < index
      ? {
          path: ['subscriptions', index, 'channel'],
          message: 'a channel that this topic does not have yet',
        }
      : [],
  );
}

/** A channel has one configuration for all of its topics, so a second tenant would be dropped without a word. */
function teamsOfTwoTenants({ subscriptions }: Shape): Clash[] {
  return subscriptions.flatMap(({ team, tenant }, index) => {
    const first = subscriptions.findIndex((other) => other.team === team && other.tenant);
    return team && tenant && tenant !== subscriptions[first]?.tenant
      ? {
          path: ['subscriptions', index, 'tenant'],
          message: `the tenant of subscriptions[${first}]: a team belongs to one tenant`,
        }
      : [];
  });
}

function secondArchives({ subscriptions }: Shape): Clash[] {
  const first = subscriptions.findIndex(({ protocol }) => protocol === 'archive');
  return subscriptions.flatMap(({ protocol }, index) =>
    protocol === 'archive' && index > first
      ? {
          path: ['subscriptions', index, 'protocol'],
          message: 'one archive in a stack: it keeps its integrations apart by itself',
        }
      : [],
  );
}

function unknownIntegrations({ integrations, subscriptions }: Shape): Clash[] {
  const names = integrations.map(({ name }) => name);
  return subscriptions.flatMap(({ filter }, subscriber) =>
    filter.integrations.flatMap((name, index) =>
      name && !names.includes(name)
        ? {
            path: ['subscriptions', subscriber, 'filter', 'integrations', index],
            message: `the name of a configured integration (${names.map(describedValue).join(', ')})`,
          }
        : [],
    ),
  );
}

function digestsBetweenTicks({ alerts, integrations }: Shape): Clash[] {
  const shortest = Math.min(...integrations.map(({ every = 0 }) => every));
  if (integrations.length === 0) return [];
  if (alerts.digestEvery === undefined || alerts.digestEvery >= shortest) return [];
  return [
    {
      path: ['alerts', 'digestEvery'],
      message: `at least the shortest \`every\` (${shortest}), or none: every tick then sends its own`,
    },
  ];
}

/** The other protocols have a queue at the topic, or are refused for events of any topic. */
const withoutFifo = ['email', 'email-json', 'https', 'lambda'];
const forMail = ['email', 'email-json'];

/** "Message delivery for FIFO topics" in the Amazon SNS developer guide. */
function unfitForTheTopic({ topic, subscriptions }: Shape): Clash[] {
  return subscriptions.flatMap((subscription, index) => {
    const isFifo = topic === 'fifo' && subscription.topic === 'events';
    if (isFifo && withoutFifo.includes(subscription.protocol))
      return {
        path: ['subscriptions', index, 'protocol'],
        message: `'sqs', 'event-bus' or 'archive': a FIFO topic delivers to queues only (${forMail.includes(subscription.protocol) ? "mail gets the digests of the topic 'alerts'" : 'a queue can feed a function'})`,
      };
    if (
      !isFifo &&
      subscription.protocol === 'sqs' &&
      subscription.endpoint.address.endsWith('.fifo')
    )
      return {
        path: ['subscriptions', index, 'endpoint'],
        message: 'a standard queue: a FIFO queue cannot subscribe to a standard topic',
      };
    return [];
  });
}

function unintendedMail({ topic: kind, subscriptions }: Shape): Clash[] {
  return subscriptions.flatMap(({ topic, protocol, mailPerEvent }, index) =>
    // A FIFO topic takes no mail, intended or not.
    kind !== 'fifo' && topic === 'events' && forMail.includes(protocol) && !mailPerEvent
      ? {
          path: ['subscriptions', index, 'topic'],
          message:
            "'alerts', whose digests are for people; or mailPerEvent: true, if one mail for each event is wanted",
        }
      : [],
  );
}

function tooMuchForAStack({ topic, integrations, subscriptions, pagerTopicArn }: Shape): Clash[] {
  const of = (wanted: string) => subscriptions.filter(({ protocol }) => protocol === wanted).length;
  const newQueues = subscriptions.filter(({ endpoint }) => /^new /.test(endpoint.address)).length;
  const functions = of('lambda');
  const eventBuses = of('event-bus');
  const archives = of('archive');
  const chats = subscriptions.filter((one) => channelOf(one));
  const chatTopics = new Set(chats.map(({ topic }) => topic)).size;
  const chatChannels = new Set(chats.map(channelOf)).size;
  const resources = resourcesOf({
    integrations: integrations.length,
    newQueues,
    functions,
    eventBuses,
    archives,
    isFifo: topic === 'fifo',
    chatTopics,
    chatChannels,
    otherSubscriptions:
      subscriptions.length - newQueues - functions - eventBuses - archives - chats.length,
    hasPager: pagerTopicArn !== '',
    hasOperationsHook: subscriptions.some(
      ({ topic, protocol }) => topic === 'operations' && protocol === 'https',
    ),
  });
  if (integrations.length > maxIntegrations || resources <= maxResources) return [];
  return [
    {
      path: ['subscriptions'],
      message: `fewer: with ${integrations.length} integrations they would be ${resources} resources, and CloudFormation takes ${maxResources} (a second deployment needs another stackName)`,
    },
  ];
}
