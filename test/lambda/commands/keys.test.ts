import { describe, expect, it } from 'vitest';
import { keys } from '../../../lambda/commands/keys.ts';
import type { TopicFinding } from '../../../lambda/commands/parts.ts';
import type { ExpectedSubscription } from '../../../lambda/names.ts';

const ofAccount = {
  Effect: 'Allow',
  Principal: { AWS: 'arn:aws:iam::111122223333:root' },
  Action: 'kms:*',
  Resource: '*',
};
const [cloudWatch, sns] = ['cloudwatch.amazonaws.com', 'sns.amazonaws.com'];
const services = [cloudWatch, sns];
const both = ['kms:Decrypt', 'kms:GenerateDataKey*'];
const lets = (Service: string | string[], Action: string | string[], more: object = {}) => ({
  ...{ Effect: 'Allow', Principal: { Service }, Action, Resource: '*' },
  ...more,
});
const itLets = lets(services, both);
const any = { Principal: '*' };
/** Replaces a `Principal`. */
const allBut = (...Service: string[]) => ({ Principal: undefined, NotPrincipal: { Service } });
/** Replaces an `Action`. */
const allOther = (NotAction: string | string[]) => ({ Action: undefined, NotAction });
const denies = (more: object) => [itLets, { Effect: 'Deny', Action: 'kms:*', ...more }];
const Condition = { StringEquals: { 'aws:SourceAccount': '111122223333' } };

const queue = (name: string, topic: ExpectedSubscription['topic'] = 'events') => ({
  ...{ topic, protocol: 'sqs', name },
  endpoint: `arn:aws:sqs:us-east-1:111122223333:${name}`,
});
const mailbox = { ...queue('a mailbox', 'operations'), protocol: 'email' };

interface World {
  readonly statements?: unknown;
  readonly isOfOthers?: boolean;
  readonly state?: string;
  /** SNS's finding about the topic of operations. */
  readonly topic?: Partial<TopicFinding>;
  readonly queueKey?: (arn: string) => Promise<string | undefined>;
  readonly subscriptions?: readonly ExpectedSubscription[];
}

function found(world: World) {
  const { statements = itLets, isOfOthers, queueKey, state = 'Enabled', topic } = world;
  const key = 'arn:aws:kms:us-east-1:111122223333:key/1';
  const operations = { topic: 'operations', confirmed: 1, pending: 0, key, ...topic } as const;
  const policy = JSON.stringify({ Statement: statements });
  return keys(
    {
      topics: async () => [{ topic: 'events', confirmed: 1, pending: 0 }, operations],
      topicKey: async () => (isOfOthers ? undefined : { state, policy }),
      queueKey: queueKey ?? (async () => undefined),
    },
    world.subscriptions ?? [mailbox],
  );
}

describe('the key of the topics', () => {
  it.each<[string, unknown, string[]]>([
    ['as the stack makes it', [ofAccount, lets(services, both, { Condition })], []],
    ['with a statement a service', services.map((one) => lets(one, both)), []],
    ['with an action a statement', both.map((action) => lets(services, action)), []],
    ['with one statement that is no list', itLets, []],
    ['with every action', [lets(services, 'kms:*')], []],
    ['with every principal', [{ ...ofAccount, ...any }], []],
    ['with every principal of AWS', [{ ...ofAccount, Principal: { AWS: '*' } }], []],
    ['with a pattern', [lets(services, ['kms:Decryp?', 'kms:Generate*Key*'])], []],
    ['with all actions except others', [lets(services, [], allOther('kms:Put*'))], []],
    ['with all principals but another', [lets([], both, allBut('sqs.amazonaws.com'))], []],
    ['that refuses other actions', denies({ ...any, Action: 'kms:*Grant' }), []],
    ['that refuses all but these actions', denies({ ...any, ...allOther(both) }), []],
    ['that refuses all but these services', denies(allBut(...services)), []],
    ['that refuses under a condition', denies({ ...any, Condition }), []],
    ['that is for identities only', [ofAccount], services],
    ['that lets in one of them', [lets(sns, both)], [cloudWatch]],
    ['that lets them do half of it', [lets(services, 'kms:Decrypt')], services],
    ['that also refuses one of them', denies({ Principal: { Service: sns } }), [sns]],
    ['that refuses all but one of them', denies(allBut(sns)), [cloudWatch]],
    ['that refuses all but a few', denies({ ...any, ...allOther('kms:Describe*') }), services],
  ])('lets both services in, or tells which it shuts out, %s', async (_, statements, out) => {
    const finding = await found({ statements });
    expect(finding.outcome).toBe(out.length === 0 ? 'ok' : 'failed');
    expect(Object.keys(finding.each ?? {})).toEqual(out.map((service) => `keys[${service}]`));
    for (const service of out) expect(finding.found).toContain(`shuts ${service} out`);
    if (out.length > 0) expect(finding.whatToDo).toContain('kms:GenerateDataKey*');
  });

  const alarms = { [`keys[${cloudWatch}]`]: 'shut out by the key of the topics' };
  const unusable = (is: string) => ({ 'keys[topics]': `the key of the topics is ${is}` });
  const ownOf = (service: string) => `arn:aws:kms:us-east-1:111122223333:alias/aws/${service}`;
  const subscriptions = [queue('grades'), queue('payroll'), queue('payroll', 'operations')];
  /** The key of the queue of payroll. */
  const payroll = (key: string) => async (arn: string) =>
    arn.endsWith('payroll') ? key : 'alias/ours';
  const ofSqs = { 'keys[1]': 'alias/aws/sqs shuts SNS out' };
  const another = 'A queue with alias/aws/sqs needs another key';
  const lacking = { subscriptions: [], statements: ofAccount };

  it.each<[string, World, object, string]>([
    ['a disabled key', { state: 'Disabled' }, unusable('Disabled'), 'aws kms enable-key'],
    ['a deleted one', { state: 'PendingDeletion' }, unusable('PendingDeletion'), 'enable-key'],
    ['an unavailable one', { state: 'Unavailable' }, unusable('Unavailable'), 'enable-key'],
    ["AWS's own key", { topic: { key: 'alias/aws/sns' } }, alarms, '--revert-drift'],
    ['its ARN', { topic: { key: ownOf('sns') } }, alarms, '--revert-drift'],
    ['a key that lets no alarm arrive', lacking, alarms, 'kms:Decrypt'],
    ['a queue', { subscriptions, queueKey: payroll('alias/aws/sqs') }, ofSqs, another],
    ['its ARN', { subscriptions, queueKey: payroll(ownOf('sqs')) }, ofSqs, another],
  ])('is reported: %s', async (_, world, each, toDo) => {
    const finding = await found(world);
    expect(finding).toMatchObject({ outcome: 'failed', whatToDo: expect.stringContaining(toDo) });
    expect(finding.each).toEqual(each);
  });

  it.each<[string, World, string]>([
    ['is skipped if SNS does not name it', { topic: { key: undefined, problem: 'x' } }, 'skipped'],
    ['need not be there', { topic: { key: undefined } }, 'ok'],
    ['of another account is for that account to read', { isOfOthers: true }, 'ok'],
    ['that is being updated can be used', { state: 'Updating' }, 'ok'],
    ['need not let SNS in', { subscriptions: [], statements: lets(cloudWatch, both) }, 'ok'],
  ])('%s', async (_, world, outcome) => {
    expect(await found(world)).toMatchObject({ outcome });
  });

  it('that is unreadable hides no other one, and is not taken for one that lets services in', async () => {
    const queueKey = async (arn: string) => {
      if (arn.endsWith('grades')) throw new Error('denied');
      return 'alias/aws/sqs';
    };
    const { each } = await found({ subscriptions, queueKey, statements: ofAccount });
    expect(Object.keys(each ?? {})).toEqual(['keys[1]', ...services.map((one) => `keys[${one}]`)]);
    const alone = found({ subscriptions: [queue('grades')], queueKey });
    await expect(alone).rejects.toThrow('denied');
    await expect(found({ statements: 'closed' })).rejects.toThrow();
  });
});
