import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maxIntegrations, maxResources, resourcesOf } from '../../../infra/config/limits.ts';
import { maxTemplateSize, refuseLargeTemplate } from '../../../infra/template-size.ts';
import { folder } from '../synthesis.ts';
import { district, synthesized } from '../synthesized.ts';
import {
  archive,
  bus,
  pagerTopicArn,
  problemsOf,
  queue,
  refusals,
  slack,
  times,
} from './settings.ts';

const lambdaArn = 'arn:aws:lambda:us-east-1:111122223333:function:certifications';
const integrations = (count: number) =>
  times(count, (index) => ({ ...district, name: `district-${index}` }));
const mail = (index: number) => ({
  ...{ topic: 'alerts', protocol: 'email', endpoint: `office-${index}@example.org` },
});
const chats = (topics: string[], channels: string[]) =>
  topics.flatMap((topic) => channels.map((channel) => ({ ...slack, topic, channel })));

describe('the stack', () => {
  it.each<[settings: object, subscriptions: object[], Partial<Parameters<typeof resourcesOf>[0]>]>([
    [{ integrations: integrations(maxIntegrations) }, [], { integrations: maxIntegrations }],
    [{ pagerTopicArn, integrations: integrations(2) }, [], { integrations: 2, hasPager: true }],
    [{}, [{ ...queue, endpoint: { newQueue: 'payroll' } }], { newQueues: 1 }],
    [{}, [{ ...queue, protocol: 'lambda', endpoint: lambdaArn }], { functions: 1 }],
    [{}, [bus, { ...bus, bus: 'certifications' }], { eventBuses: 2 }],
    [{}, times(5, mail), { otherSubscriptions: 5 }],
    [
      {},
      [{ topic: 'operations', protocol: 'https', endpoint: 'https://a.org/' }],
      { otherSubscriptions: 1, hasOperationsHook: true },
    ],
    [{}, [archive], { archives: 1 }],
    [{ topic: 'fifo' }, [archive], { archives: 1, isFifo: true }],
    [{}, chats(['operations'], ['C0ABCD', 'C0ABCE']), { chatTopics: 1, chatChannels: 2 }],
    [{}, chats(['alerts', 'operations'], ['C0ABCD']), { chatTopics: 2, chatChannels: 1 }],
  ])(
    'has the counted resources, and is refused by their number: %j, %j',
    (settings, some, parts) => {
      const config = { integrations: integrations(1), ...settings };
      const counted = { integrations: 1, ...parts };
      const { Resources = {}, Outputs = {} } = synthesized({
        ...config,
        subscriptions: some,
      }).toJSON();
      expect(Object.keys(Resources)).toHaveLength(resourcesOf(counted));
      expect(Object.keys(Outputs).length).toBeLessThanOrEqual(200);

      const room = Math.floor((maxResources - resourcesOf(counted)) / 4);
      const withMails = (count: number) =>
        problemsOf({ ...config, subscriptions: [...some, ...times(count, (n) => mail(n + 9))] });
      expect(withMails(room)).toEqual([]);
      const { otherSubscriptions = 0 } = counted;
      const tooMany = { ...counted, otherSubscriptions: otherSubscriptions + room + 1 };
      expect(withMails(room + 1)).toEqual([
        expect.stringContaining(`they would be ${resourcesOf(tooMany)} resources`),
      ]);
    },
  );

  it('has the room that the guide says', () => {
    const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    const [, room = ''] = page.match(/\n- \*\*Room\*\*(.*?) A key,/s) ?? [];
    const none = resourcesOf({ integrations: 0 });
    const more = (parts: Partial<Parameters<typeof resourcesOf>[0]>) =>
      resourcesOf({ integrations: 0, ...parts }) - none;
    expect(room.replaceAll(/\s+/g, ' ')).toBe(
      `, of the ${maxResources} resources of a stack: ${none}, and one more with a webhook on operations; for each integration ${more({ integrations: 1 })} and one more with a pager; for each subscription ${more({ newQueues: 1 })} of a new queue, ${more({ functions: 1 })} of a function, ${more({ eventBuses: 1 })} of an event bus, ${more({ archives: 1 })} of an archive (${more({ archives: 1, isFifo: true })} of a FIFO topic), one of a channel of a chat and ${more({ chatChannels: 1, chatTopics: 1 }) - 1} more of the first of a topic (${more({ chatChannels: 2, chatTopics: 2 }) - more({ chatChannels: 1, chatTopics: 1 }) - 1} of the second), ${more({ otherSubscriptions: 1 })} of anything else.`,
    );
  });
});

it('a template is refused by its bytes, not its characters, in one line that names the lists to shorten', () => {
  const file = join(folder, 'a.template.json');
  writeFileSync(file, 'x'.repeat(maxTemplateSize));
  expect(refusals(() => refuseLargeTemplate(file))).toEqual([]);
  writeFileSync(file, `é${'x'.repeat(maxTemplateSize - 1)}`);
  expect(refusals(() => refuseLargeTemplate(file))).toEqual([
    expect.stringMatching(
      /^subscriptions: a template of 1,000,001 bytes found; allowed: one of at most 1,000,000, .*fewer or shorter names in filters, .*fewer integrations/,
    ),
  ]);
});
