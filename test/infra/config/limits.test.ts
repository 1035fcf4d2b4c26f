import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assessmentFields } from '../../../infra/config/assessment-fields.ts';
import { maxIntegrations, maxResources, resourcesOf } from '../../../infra/config/limits.ts';
import { parseConfig } from '../../../infra/config.ts';
import { maxTemplateSize } from '../../../infra/template-size.ts';
import { synthesized } from '../synthesized.ts';

describe('the stack', () => {
  const long = (start: string, length: number) => start.padEnd(length, 'x');
  const host = `${`${'x'.repeat(49)}.`.repeat(5)}org`;
  const integrations = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: long(`district-${index}-`, 40),
      baseUrl: `https://${host}`,
      timeZone: 'America/Argentina/ComodRivadavia',
      fields: [...assessmentFields],
    }));
  const settings = {
    pagerTopicArn: `arn:aws:sns:us-east-1:111122223333:${long('pager', 256)}`,
    runbookUrl: long('https://wiki.example.org/', 200),
  };
  // The most that SNS accepts. For names, the template's size is the limit (template-size.ts).
  const organizations = Array.from({ length: 150 }, (_, index) => 999_999_999 - index);
  // More queues for events would exceed a policy.
  const eventsTo = (index: number, count: number) =>
    index < count / 2 - 5 ? { topic: 'events', filter: { organizations } } : { topic: 'alerts' };
  const newQueue = (index: number, count: number) => ({
    ...eventsTo(index, count),
    protocol: 'sqs',
    endpoint: { newQueue: long(`queue-${index}-`, 40) },
  });
  const hook = (index: number, count: number) => ({
    ...eventsTo(index, count),
    protocol: 'https',
    endpoint: long(`https://${host}/${index}/`, 2_048),
  });
  const mail = (index: number) => ({
    topic: 'alerts',
    protocol: 'email',
    endpoint: `${long(`office-${index}-`, 64)}@${host}`,
  });
  const lambda = (index: number, count: number) => ({
    ...eventsTo(index, count),
    protocol: 'lambda',
    endpoint: `arn:aws:lambda:us-east-1:111122223333:function:${long(`watch-${index}-`, 64)}`,
  });
  const bus = (index: number, count: number) => ({
    ...eventsTo(index, count),
    topic: 'events',
    protocol: 'event-bus',
    // For longer names, the template's size is the limit (template-size.ts).
    bus: long(`bus-${index}-`, 200),
  });
  const one = resourcesOf({ integrations: 1, hasPager: true });
  const most = (each: number) => Math.floor((maxResources - one) / each);

  it.each([
    ['integrations', maxIntegrations, 1, newQueue, { newQueues: 1 }],
    ['new queues', 1, most(6), newQueue, { newQueues: most(6) }],
    ['functions', 1, most(5), lambda, { functions: most(5) }],
    ['event buses', 1, most(9), bus, { eventBuses: most(9) }],
    ['addresses', 1, most(4), mail, { otherSubscriptions: most(4) }],
    ['webhooks', 1, most(4), hook, { otherSubscriptions: most(4) }],
  ])(
    "has the counted resources, and stays within CloudFormation's limits, with the most %s of a configuration",
    (_what, count, subscribers, subscription, parts) => {
      const many = synthesized({
        integrations: integrations(count),
        ...settings,
        subscriptions: Array.from({ length: subscribers }, (_, index) =>
          subscription(index, subscribers),
        ),
      }).toJSON();
      const resources = Object.keys(many.Resources ?? {}).length;
      expect(resources).toBe(resourcesOf({ integrations: count, hasPager: true, ...parts }));
      expect(resources).toBeLessThanOrEqual(maxResources);
      expect(Object.keys(many.Outputs ?? {}).length).toBeLessThanOrEqual(200);
      // The template as it is written: synth.test.ts.
      expect(Buffer.byteLength(JSON.stringify(many))).toBeLessThanOrEqual(maxTemplateSize);
    },
  );

  it('has one more resource if a webhook subscribes to operations', () => {
    const subscriptions = [
      { topic: 'operations', protocol: 'https', endpoint: 'https://hook.example.org/x' },
    ];
    const { Resources } = synthesized({ integrations: integrations(1), subscriptions }).toJSON();
    expect(Object.keys(Resources)).toHaveLength(
      resourcesOf({ integrations: 1, otherSubscriptions: 1, hasOperationsHook: true }),
    );

    const full = (topic: string) => ({
      integrations: integrations(12),
      subscriptions: [
        ...Array.from({ length: 57 }, (_, index) => mail(index)),
        ...Array.from({ length: 2 }, (_, index) => lambda(index, 0)),
        { ...hook(0, 0), topic },
      ],
    });
    expect(() => parseConfig(full('alerts'))).not.toThrow();
    expect(() => parseConfig(full('operations'))).toThrow(/they would be 501 resources/);
  });

  it.each([
    [['alerts'], ['C0123ABCD'], 1],
    [['operations'], ['C0123ABCD', 'C0123ABCE'], 1],
    [['alerts', 'operations'], ['C0123ABCD'], 2],
    [['alerts', 'operations'], ['C0123ABCD', 'C0123ABCE', 'C0123ABCF'], 2],
  ])('has the resources of chats that get %s in %s', (topics, channels, chatTopics) => {
    const subscriptions = topics.flatMap((topic) =>
      channels.map((channel) => ({ topic, protocol: 'slack', workspace: 'T0123ABCD', channel })),
    );
    const { Resources } = synthesized({ integrations: integrations(1), subscriptions }).toJSON();
    const chatChannels = channels.length;
    expect(Object.keys(Resources)).toHaveLength(
      resourcesOf({ integrations: 1, chatTopics, chatChannels }),
    );
    const full = Array.from({ length: 57 }, (_, index) => mail(index));
    const tooMany = { integrations: integrations(12), subscriptions: [...full, ...subscriptions] };
    const count = resourcesOf({
      integrations: 12,
      otherSubscriptions: 57,
      chatTopics,
      chatChannels,
    });
    if (count > maxResources)
      expect(() => parseConfig(tooMany)).toThrow(new RegExp(`would be ${count} resources`));
    else expect(() => parseConfig(tooMany)).not.toThrow();
  });

  it.each(['standard', 'fifo'])('has the resources of an archive of a %s topic', (topic) => {
    const subscriptions = [{ topic: 'events', protocol: 'archive' }];
    const config = { integrations: integrations(1), topic, subscriptions };
    const { Resources } = synthesized(config).toJSON();
    expect(Object.keys(Resources)).toHaveLength(
      resourcesOf({ integrations: 1, archives: 1, isFifo: topic === 'fifo' }),
    );
  });

  it('has the room that the guide says', () => {
    const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    const [, room = ''] = page.match(/\n- \*\*Room\*\*(.*?) A key,/s) ?? [];
    const none = resourcesOf({ integrations: 0 });
    const more = (parts: Partial<Parameters<typeof resourcesOf>[0]>) =>
      resourcesOf({ integrations: 0, ...parts }) - none;
    expect(room.replaceAll(/\s+/g, ' ')).toBe(
      `, of the ${maxResources} resources of a stack: ${none}, and one more with a webhook on operations; for each integration ${more({ integrations: 1 })}, one more with a pager and ${more({ fanOuts: 1 })} with a fan-out; for each subscription ${more({ newQueues: 1 })} of a new queue, ${more({ functions: 1 })} of a function, ${more({ eventBuses: 1 })} of an event bus, ${more({ archives: 1 })} of an archive (${more({ archives: 1, isFifo: true })} of a FIFO topic), one of a channel of a chat and ${more({ chatChannels: 1, chatTopics: 1 }) - 1} more of the first of a topic (${more({ chatChannels: 2, chatTopics: 2 }) - more({ chatChannels: 1, chatTopics: 1 }) - 1} of the second), ${more({ otherSubscriptions: 1 })} of anything else.`,
    );
  });

  it('is refused by its real resources: a pager counts only if there is one', () => {
    const config = {
      integrations: integrations(12),
      subscriptions: Array.from({ length: 60 }, (_, index) => mail(index)),
    };
    expect(() => synthesized(config)).not.toThrow();
    const { pagerTopicArn } = settings;
    expect(() => parseConfig({ ...config, pagerTopicArn })).toThrow(/they would be 510 resources/);
  });
});
