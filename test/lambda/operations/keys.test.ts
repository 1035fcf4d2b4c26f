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
/** Replaces a `Principal`. */
const allBut = (...Service: string[]) => ({ Principal: undefined, NotPrincipal: { Service } });
const both = ['kms:Decrypt', 'kms:GenerateDataKey*'];
const services = ['cloudwatch.amazonaws.com', 'sns.amazonaws.com'];
const condition = { StringEquals: { 'aws:SourceAccount': '111122223333' } };

const queue = (name: string): ExpectedSubscription => ({
  topic: 'events',
  protocol: 'sqs',
  endpoint: `arn:aws:sqs:us-east-1:111122223333:${name}`,
  name,
});

const mailbox: ExpectedSubscription = {
  topic: 'operations',
  protocol: 'email',
  endpoint: 'a mailbox',
  name: 'a mailbox',
};

interface World {
  readonly statements?: unknown;
  readonly isOfOthers?: boolean;
  readonly state?: string;
  /** The id that SNS has for the key of the topics. */
  readonly key?: string;
  readonly queueKey?: (arn: string) => Promise<string | undefined>;
  readonly subscriptions?: readonly ExpectedSubscription[];
}

function found(world: World) {
  const { statements = lets(services, both), isOfOthers, queueKey, state = 'Enabled' } = world;
  const { key = 'arn:aws:kms:us-east-1:111122223333:key/1' } = world;
  const policy = JSON.stringify({ Statement: statements });
  return keys(
    {
      topics: async () => [{ topic: 'operations', confirmed: 1, pending: 0, key }],
      topicKey: async () => (isOfOthers ? undefined : { state, policy }),
      queueKey: queueKey ?? (async () => undefined),
    },
    world.subscriptions ?? [mailbox],
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
    ['with a pattern', [lets(services, ['kms:Decryp?', 'kms:Generate*Key*'])]],
    ['with all actions except others', [{ ...lets(services, []), NotAction: 'kms:Put*' }]],
    ['with all principals except another', [{ ...lets([], both), ...allBut('sqs.amazonaws.com') }]],
    [
      'that refuses other actions',
      [
        lets(services, both),
        { ...ofAccount, Effect: 'Deny', Principal: '*', Action: 'kms:*Grant' },
      ],
    ],
    [
      'that refuses all but these actions',
      [lets(services, both), { Effect: 'Deny', Principal: '*', NotAction: both }],
    ],
    [
      'that refuses all but these services',
      [lets(services, both), { ...lets([], 'kms:*'), Effect: 'Deny', ...allBut(...services) }],
    ],
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
      'that also refuses one of them',
      [lets(services, both), lets('sns.amazonaws.com', 'kms:*', { Effect: 'Deny' })],
      ['sns.amazonaws.com'],
    ],
    [
      'that refuses all but one of them',
      [
        lets(services, both),
        { ...lets([], 'kms:*'), Effect: 'Deny', ...allBut('sns.amazonaws.com') },
      ],
      ['cloudwatch.amazonaws.com'],
    ],
    [
      'that refuses all but other actions',
      [lets(services, both), { Effect: 'Deny', Principal: '*', NotAction: 'kms:Describe*' }],
      services,
    ],
  ])('shuts services out of a policy %s', async (_, statements, out) => {
    const finding = await found({ statements });
    expect(finding.outcome).toBe('failed');
    expect(Object.keys(finding.each ?? {})).toEqual(out.map((service) => `keys[${service}]`));
    for (const service of out) expect(finding.found).toContain(`shuts ${service} out`);
    expect(finding.whatToDo).toContain('kms:GenerateDataKey*');
  });

  it('with an unreadable policy is not taken for one that lets services in', async () => {
    await expect(found({ statements: 'closed' })).rejects.toThrow();
  });

  it('without any subscription need not let SNS in', async () => {
    const only = { statements: [lets('cloudwatch.amazonaws.com', both)], subscriptions: [] };
    expect(await found(only)).toMatchObject({ outcome: 'ok' });
    expect(Object.keys((await found({ ...only, statements: ofAccount })).each ?? {})).toEqual([
      'keys[cloudwatch.amazonaws.com]',
    ]);
  });

  it.each(['Disabled', 'PendingDeletion', 'PendingImport', 'Unavailable'])(
    'that is %s is reported, with any policy',
    async (state) => {
      expect(await found({ state })).toMatchObject({
        outcome: 'failed',
        found: `The key of the topics is ${state}: nothing can be published.`,
        whatToDo: expect.stringContaining('aws kms enable-key'),
        each: { 'keys[topics]': `the key of the topics is ${state}` },
      });
    },
  );

  it('that is being updated can be used', async () => {
    expect(await found({ state: 'Updating' })).toMatchObject({ outcome: 'ok' });
  });

  it.each(['alias/aws/sns', 'arn:aws:kms:us-east-1:111122223333:alias/aws/sns'])(
    "that is AWS's own (%s) lets no alarm arrive",
    async (key) => {
      expect(await found({ key })).toMatchObject({
        outcome: 'failed',
        each: { 'keys[cloudwatch.amazonaws.com]': expect.any(String) },
        whatToDo: expect.stringContaining('--revert-drift'),
      });
    },
  );

  it('is skipped if SNS does not name it', async () => {
    const problem = 'AWS denies sns:GetTopicAttributes';
    const topics = async () => [
      { topic: 'operations' as const, confirmed: 0, pending: 0, problem },
    ];
    const nothing = async () => undefined;
    const parts = { topics, topicKey: nothing, queueKey: nothing };
    expect(await keys(parts, [])).toMatchObject({ outcome: 'skipped' });
  });

  it('of another account is for that account to read', async () => {
    expect(await found({ isOfOthers: true })).toMatchObject({ outcome: 'ok' });
  });
});

describe("a subscriber's queue", () => {
  const subscriptions = [queue('grades'), queue('payroll')];

  it("that has AWS's own key is reported by its place", async () => {
    const queueKey = async (arn: string) =>
      arn.endsWith('payroll') ? 'alias/aws/sqs' : 'alias/ours';
    expect(await found({ subscriptions, queueKey })).toMatchObject({
      outcome: 'failed',
      each: { 'keys[1]': 'alias/aws/sqs shuts SNS out' },
    });
  });

  it("that names AWS's own key by its ARN is reported, too", async () => {
    const queueKey = async () => 'arn:aws:kms:us-east-1:111122223333:alias/aws/sqs';
    const finding = await found({ subscriptions: [queue('grades')], queueKey });
    expect(finding.each).toEqual({ 'keys[0]': 'alias/aws/sqs shuts SNS out' });
    expect(finding.whatToDo).toMatch(/^A queue with alias\/aws\/sqs needs another key/);
  });

  it('with an unreadable key hides neither another queue nor the key of the topics', async () => {
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
