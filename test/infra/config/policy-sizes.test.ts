import { describe, expect, it } from 'vitest';
import { maxReaders, maxSubscriberAccounts } from '../../../infra/config/policy-sizes.ts';
import { at, district, listAt, synthesized } from '../synthesized.ts';
import { expectOneLine, problemsOf, queue, type Refusal, withQueue } from './settings.ts';

/** AWS counts policies without white space. */
const sizeOf = (policy: unknown) => JSON.stringify(policy).length;

/** The longest names that CloudFormation gives to resources of a stack with the longest name. */
const longestNames: Readonly<Record<string, number>> = {
  'AWS::SNS::Topic': 256,
  'AWS::SQS::Queue': 80,
  'AWS::Lambda::Function': 64,
  'AWS::KMS::Key': 40,
};
const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::Partition': 'aws-us-gov',
  'AWS::Region': 'us-gov-west-1',
  'AWS::AccountId': '111122223333',
  'AWS::URLSuffix': 'amazonaws.com',
};
const stackName = 's'.repeat(128);

/** A template's resources with each reference replaced by its longest possible value. */
function deployed(input: object) {
  const resources = synthesized({ stackName, ...input }).toJSON().Resources ?? {};
  const arnOf = (id: string) => {
    const type = String(at(resources[id], 'Type'));
    const length = longestNames[type] ?? stackName.length + id.length + 14;
    return `arn:aws-us-gov:${type.split('::')[1]}:us-gov-west-1:111122223333:${'n'.repeat(length)}`;
  };
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved);
    if (typeof value !== 'object' || value === null) return value;
    const [ref, attribute, join] = ['Ref', 'Fn::GetAtt', 'Fn::Join'].map((name) => at(value, name));
    if (ref !== undefined) return pseudoParameters[String(ref)] ?? arnOf(String(ref));
    if (Array.isArray(attribute)) return arnOf(String(attribute[0]));
    if (Array.isArray(join)) return [resolved(join[1])].flat().join('');
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolved(inner)]));
  };
  const sizes = (type: string, sizeOfOne: (resource: unknown) => number) =>
    Object.values(resources)
      .filter((resource) => at(resource, 'Type') === type)
      .map((resource) => sizeOfOne(resolved(resource)));
  const documents = (type: string, name = 'PolicyDocument') =>
    Math.max(...sizes(type, (resource) => sizeOf(at(resource, 'Properties', name))));
  return {
    topics: documents('AWS::SNS::TopicPolicy'),
    queues: documents('AWS::SQS::QueuePolicy'),
    keys: documents('AWS::KMS::Key', 'KeyPolicy'),
    roles: Math.max(
      ...sizes('AWS::IAM::Role', (role) =>
        listAt(role, 'Properties', 'Policies').reduce<number>(
          (sum, policy) => sum + sizeOf(at(policy, 'PolicyDocument')),
          0,
        ),
      ),
    ),
  };
}

const integration = { ...district, name: 'd'.repeat(40), baseline: 'fan-out' };
const newQueues = (count: number, readers?: readonly string[]) =>
  Array.from({ length: count }, (_, index) => ({
    topic: 'events',
    protocol: 'sqs',
    endpoint: { newQueue: `${'q'.repeat(38)}${index + 10}`, ...(readers && { readers }) },
  }));
const readers = (length: number) =>
  Array.from({ length: maxReaders }, (_, index) =>
    `arn:aws-us-gov:iam::111122223333:role/${'r'.repeat(64)}/${index}`.padEnd(length, 'n'),
  );

describe("policies stay within AWS's limits for the largest configuration", () => {
  it('of the events topic and of the operate function: SNS 30 KB, IAM 10,240 characters', () => {
    const { topics, roles } = deployed({
      integrations: [
        {
          ...integration,
          secretName: 's'.repeat(512),
          secretKeyArn: `arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/mrk-${'0'.repeat(32)}`,
        },
      ],
      subscriberAccounts: Array.from({ length: maxSubscriberAccounts }, (_, index) =>
        String(444455556000 + index),
      ),
      subscriptions: newQueues(33),
    });
    expect(topics).toBeGreaterThan(20_000);
    expect(topics).toBeLessThanOrEqual(30_000);
    expect(roles).toBeGreaterThan(9_000);
    expect(roles).toBeLessThanOrEqual(10_240);
  });

  it('of roles, also with topics for chats: IAM 10,240 characters', () => {
    const chats = ['alerts', 'operations'].map((topic) => ({
      topic,
      protocol: 'slack',
      workspace: 'T0123ABCD',
      channel: 'C0123ABCD',
    }));
    const input = (count: number) => ({
      integrations: [
        {
          ...integration,
          secretName: 's'.repeat(512),
          secretKeyArn: `arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/mrk-${'0'.repeat(32)}`,
        },
      ],
      subscriptions: [...newQueues(count), ...chats],
    });
    const most = Array.from({ length: 40 }, (_, count) => count).findLast(
      (count) => problemsOf(input(count)).length === 0,
    );
    const { roles } = deployed(input(most ?? 0));
    expect(most).toBeGreaterThan(20);
    expect(roles).toBeGreaterThan(9_000);
    expect(roles).toBeLessThanOrEqual(10_240);
  });

  it('of queues and of the key: SQS 8,192 bytes, KMS 32,768 bytes', () => {
    const { queues, keys } = deployed({
      integrations: [integration],
      subscriptions: newQueues(4, readers(142)),
    });
    expect(queues).toBeGreaterThan(7_500);
    expect(queues).toBeLessThanOrEqual(8_192);
    expect(keys).toBeGreaterThan(25_000);
    expect(keys).toBeLessThanOrEqual(32_768);
  });
});

/** ARNs of roles, with paths of some length. */
const roles = (count: number, length: number) =>
  Array.from(
    { length: count },
    (_, index) => `arn:aws:iam::111122223333:role/${'p'.repeat(length)}/${index}`,
  );

describe('a setting that would make a policy too large is named with its place and the allowed values', () => {
  it.each<Refusal>([
    [
      'more accounts than fit into the policy of a topic',
      {
        integrations: [district],
        subscriberAccounts: Array.from({ length: 51 }, (_, index) => String(444455556000 + index)),
      },
      'subscriberAccounts: a list of 51 found',
      'at most 50',
    ],
    [
      'more readers than the policy of a queue takes',
      withQueue({ endpoint: { newQueue: 'payroll', readers: roles(49, 10) } }),
      'subscriptions[0].endpoint.readers: a list of 49 found',
      'at most 48',
    ],
    [
      'readers whose ARNs are too long for the policy of a queue',
      withQueue({ endpoint: { newQueue: 'payroll', readers: roles(40, 200) } }),
      'subscriptions[0].endpoint.readers: a list of 40 found',
      'fewer: with so many long ARNs, the queue',
    ],
    [
      'more readers than the policy of a key takes',
      {
        integrations: [district],
        subscriptions: Array.from({ length: 10 }, (_, index) => ({
          ...queue,
          endpoint: { newQueue: `queue-${index}`, readers: roles(40, 50) },
        })),
      },
      'subscriptions: a list of 10 found',
      'fewer readers of new queues',
    ],
    [
      'more queues for events than the policy of a role takes',
      {
        integrations: [district],
        subscriptions: Array.from({ length: 39 }, (_, index) => ({
          ...queue,
          endpoint: { newQueue: `queue-${index}` },
        })),
      },
      'subscriptions: a list of 39 found',
      'fewer queues for events than 39',
    ],
  ])('%s', (_what, input, found, allowed) => expectOneLine(input, found, allowed));
});
