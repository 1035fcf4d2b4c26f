import { describe, expect, it } from 'vitest';
import { maxSubscriberAccounts } from '../../../infra/config/notifier.ts';
import { maxReaders } from '../../../infra/config/subscription.ts';
import { at, district, listAt, synthesized } from '../synthesized.ts';
import { problemsOf, slack, times } from './settings.ts';

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
    // With a bracket and a comma for each policy.
    roles: Math.max(
      ...sizes('AWS::IAM::Role', (role) =>
        sizeOf(listAt(role, 'Properties', 'Policies').map((one) => at(one, 'PolicyDocument'))),
      ),
    ),
  };
}

const integration = { ...district, name: 'd'.repeat(40) };
const integrations = [
  {
    ...integration,
    secretName: 's'.repeat(512),
    secretKeyArn: `arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/mrk-${'0'.repeat(32)}`,
  },
];
const newQueues = (count: number, readers?: readonly string[]) =>
  times(count, (index) => ({
    topic: 'events',
    protocol: 'sqs',
    endpoint: { newQueue: `${'q'.repeat(38)}${index + 10}`, ...(readers && { readers }) },
  }));
const readers = times(maxReaders, (index) =>
  `arn:aws-us-gov:iam::111122223333:role/${'r'.repeat(64)}/${index}`.padEnd(142, 'n'),
);

/** Near the limit, so that the configuration is the largest, and not beyond it. */
function expectWithin(size: number, least: number, limit: number): void {
  expect(size).toBeGreaterThan(least);
  expect(size).toBeLessThanOrEqual(limit);
}

describe("policies stay within AWS's limits for the largest configuration", () => {
  it('of the events topic and of the operate function: SNS 30 KB, IAM 10,240 characters', () => {
    const { topics, roles } = deployed({
      integrations,
      subscriberAccounts: times(maxSubscriberAccounts, (index) => String(444455556000 + index)),
      subscriptions: newQueues(33),
    });
    expectWithin(topics, 20_000, 30_000);
    expectWithin(roles, 9_000, 10_240);
  });

  it('of roles, also with topics for chats: IAM 10,240 characters', () => {
    const chats = ['alerts', 'operations'].map((topic) => ({ ...slack, topic }));
    const inputs = times(40, (count) => [...newQueues(count), ...chats]).map((subscriptions) => ({
      ...{ integrations, subscriptions },
    }));
    const most = inputs.findLast((input) => problemsOf(input).length === 0);
    const { roles } = deployed(most ?? {});
    expect(most?.subscriptions.length).toBeGreaterThan(22);
    expectWithin(roles, 9_000, 10_240);
  });

  it('of queues and of the key: SQS 8,192 bytes, KMS 32,768 bytes', () => {
    const { queues, keys } = deployed({
      integrations: [integration],
      subscriptions: newQueues(4, readers),
    });
    expectWithin(queues, 7_500, 8_192);
    expectWithin(keys, 25_000, 32_768);
  });
});
