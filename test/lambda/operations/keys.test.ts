import { describe, expect, it } from 'vitest';
import type { ExpectedSubscription } from '../../../lambda/names.ts';
import { keys } from '../../../lambda/operations/keys.ts';

const ofAccount = {
  Effect: 'Allow',
  Principal: { AWS: 'arn:aws:iam::111122223333:root' },
  Action: 'kms:*',
  Resource: '*',
};
const lets = (Service: string | string[], Action: string | string[], more: object = {}) => ({
  Effect: 'Allow',
  Principal: { Service },
  Action,
  Resource: '*',
  ...more,
});
const both = ['kms:Decrypt', 'kms:GenerateDataKey*'];
const services = ['cloudwatch.amazonaws.com', 'sns.amazonaws.com'];
const condition = { StringEquals: { 'aws:SourceAccount': '111122223333' } };

const queue = (name: string): ExpectedSubscription => ({
  topic: 'events',
  protocol: 'sqs',
  endpoint: `arn:aws:sqs:us-east-1:111122223333:${name}`,
  name,
});

interface World {
  readonly statements?: unknown;
  readonly isOfOthers?: boolean;
  readonly queueKey?: (arn: string) => Promise<string | undefined>;
  readonly subscriptions?: readonly ExpectedSubscription[];
}

function found(world: World) {
  const { statements = lets(services, both), isOfOthers, queueKey } = world;
  const key = 'arn:aws:kms:us-east-1:111122223333:key/1';
  return keys(
    {
      topics: async () => [{ topic: 'operations', confirmed: 1, pending: 0, key }],
      keyPolicy: async () => (isOfOthers ? undefined : JSON.stringify({ Statement: statements })),
      queueKey: queueKey ?? (async () => undefined),
    },
    world.subscriptions ?? [],
  );
}

describe('the key of the topics', () => {
  it.each([
    ['as the stack makes it', [ofAccount, lets(services, both, { Condition: condition })]],
    ['with a statement a service', services.map((one) => lets(one, both))],
    ['with an action a statement', both.flatMap((action) => lets(services, action))],
    ['with one statement that is no list', lets(services, both)],
    ['with every action', [lets(services, 'kms:*')]],
    ['with every principal', [{ ...ofAccount, Principal: '*' }]],
    ['with every principal of AWS', [{ ...ofAccount, Principal: { AWS: '*' } }]],
    [
      'that refuses under a condition',
      [lets(services, both), lets(services, both, { Effect: 'Deny', Condition: condition })],
    ],
  ])('lets both services in %s', async (_, statements) => {
    expect(await found({ statements })).toMatchObject({ outcome: 'ok' });
  });

  it.each([
    ['that is for identities only', [ofAccount], services],
    ['that lets in one of them', [lets('sns.amazonaws.com', both)], ['cloudwatch.amazonaws.com']],
    ['that lets them do half of it', [lets(services, 'kms:Decrypt')], services],
    [
      'that refuses one of them besides',
      [lets(services, both), lets('sns.amazonaws.com', 'kms:*', { Effect: 'Deny' })],
      ['sns.amazonaws.com'],
    ],
  ])('shuts out of a policy %s', async (_, statements, out) => {
    const finding = await found({ statements });
    expect(finding.outcome).toBe('failed');
    expect(Object.keys(finding.each ?? {})).toEqual(out.map((service) => `keys[${service}]`));
    for (const service of out) expect(finding.found).toContain(`shuts ${service} out`);
    expect(finding.whatToDo).toContain('kms:GenerateDataKey*');
  });

  it('whose policy is none that anybody understands is no key that lets in', async () => {
    await expect(found({ statements: 'closed' })).rejects.toThrow();
  });

  it('of another account is for that account to read', async () => {
    expect(await found({ isOfOthers: true })).toMatchObject({ outcome: 'ok' });
  });
});

describe("a subscriber's queue", () => {
  const subscriptions = [queue('grades'), queue('payroll')];

  it("that has AWS's own key is told by its place", async () => {
    const queueKey = async (arn: string) =>
      arn.endsWith('payroll') ? 'alias/aws/sqs' : 'alias/ours';
    expect(await found({ subscriptions, queueKey })).toMatchObject({
      outcome: 'failed',
      each: { 'keys[1]': 'alias/aws/sqs shuts SNS out' },
    });
  });

  it('that nobody may look at hides neither another one nor the key of the topics', async () => {
    const queueKey = async (arn: string) => {
      if (arn.endsWith('grades')) throw new Error('denied');
      return 'alias/aws/sqs';
    };
    const both = await found({ subscriptions, queueKey, statements: [ofAccount] });
    expect(Object.keys(both.each ?? {})).toHaveLength(3);
    const alone = found({ subscriptions: [queue('grades')], queueKey });
    await expect(alone).rejects.toThrow('denied');
  });
});
