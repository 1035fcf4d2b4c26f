import { describe, expect, it } from 'vitest';
import { maxIntegrations, maxResources, resourcesOf } from '../../../infra/config/limits.ts';
import { parseConfig } from '../../../infra/config.ts';
import { synthesized } from '../synthesized.ts';

describe('the stack', () => {
  const integrations = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `district-${index}`,
      baseUrl: 'https://platform.example.org',
      timeZone: 'UTC',
    }));
  const pagerTopicArn = 'arn:aws:sns:us-east-1:111122223333:pager';
  // So many for events would be too many for a policy.
  const topicOf = (index: number, count: number) => (index < count / 2 - 2 ? 'events' : 'alerts');
  const newQueue = (index: number, count: number) => ({
    topic: topicOf(index, count),
    protocol: 'sqs',
    endpoint: { newQueue: `queue-${index}` },
  });
  const mail = (index: number) => ({
    topic: 'alerts',
    protocol: 'email',
    endpoint: `office-${index}@district-a.example.org`,
  });
  const lambda = (index: number) => ({
    topic: 'alerts',
    protocol: 'lambda',
    endpoint: `arn:aws:lambda:us-east-1:111122223333:function:watch-${index}`,
  });
  const one = resourcesOf({ integrations: 1, hasPager: true });
  const most = (each: number) => Math.floor((maxResources - one) / each);

  it.each([
    ['integrations', maxIntegrations, 0, newQueue, {}],
    ['new queues', 1, most(6), newQueue, { newQueues: most(6) }],
    ['functions', 1, most(5), lambda, { functions: most(5) }],
    ['addresses', 1, most(4), mail, { otherSubscriptions: most(4) }],
  ])(
    'has the resources that are counted, and stays within what CloudFormation allows, with as many %s as the config allows',
    (_what, count, subscribers, subscription, parts) => {
      const many = synthesized({
        integrations: integrations(count),
        pagerTopicArn,
        subscriptions: Array.from({ length: subscribers }, (_, index) =>
          subscription(index, subscribers),
        ),
      }).toJSON();
      const resources = Object.keys(many.Resources ?? {}).length;
      expect(resources).toBe(resourcesOf({ integrations: count, hasPager: true, ...parts }));
      expect(resources).toBeLessThanOrEqual(maxResources);
      expect(Object.keys(many.Outputs ?? {}).length).toBeLessThanOrEqual(200);
      expect(JSON.stringify(many).length).toBeLessThanOrEqual(1_000_000);
    },
  );

  it('is refused by what it would be: a pager counts only where there is one', () => {
    const config = {
      integrations: integrations(12),
      subscriptions: Array.from({ length: 65 }, (_, index) => mail(index)),
    };
    expect(() => synthesized(config)).not.toThrow();
    expect(() => parseConfig({ ...config, pagerTopicArn })).toThrow(/they would be 512 resources/);
  });
});
