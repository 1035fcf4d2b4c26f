import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maxResources, resourcesOf } from '../../../infra/config/limits.ts';
import { maxIntegrations } from '../../../infra/config/notifier.ts';
import { parseConfig } from '../../../infra/config.ts';
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
const lambda = { ...queue, protocol: 'lambda', endpoint: lambdaArn };
const newQueue = { ...queue, endpoint: { newQueue: 'payroll' } };
const hook = { topic: 'operations', protocol: 'https', endpoint: 'https://a.org/' };

const countOf = (settings: object, ...subscriptions: object[]) =>
  resourcesOf(parseConfig({ integrations: integrations(1), ...settings, subscriptions }));

describe('the stack', () => {
  it.each<[settings: object, subscriptions: object[]]>([
    [{ integrations: integrations(maxIntegrations) }, []],
    [{ pagerTopicArn, integrations: integrations(2) }, []],
    [{}, [newQueue]],
    [{}, [lambda]],
    [{}, [bus, { ...bus, bus: 'certifications' }]],
    [{}, times(5, mail)],
    [{}, [hook]],
    [{}, [archive]],
    [{ topic: 'fifo' }, [archive]],
    [{}, chats(['operations'], ['C0ABCD', 'C0ABCE'])],
    [{}, chats(['alerts', 'operations'], ['C0ABCD'])],
  ])('has the counted resources, and is refused by their number: %j, %j', (settings, some) => {
    const config = { integrations: integrations(1), subscriptions: some, ...settings };
    const counted = countOf(settings, ...some);
    const { Resources = {}, Outputs = {} } = synthesized(config).toJSON();
    expect(Object.keys(Resources)).toHaveLength(counted);
    expect(Object.keys(Outputs).length).toBeLessThanOrEqual(200);

    const room = Math.floor((maxResources - counted) / 4);
    const withMails = (count: number) =>
      problemsOf({ ...config, subscriptions: [...some, ...times(count, (n) => mail(n + 9))] });
    expect(withMails(room)).toEqual([]);
    expect(withMails(room + 1)).toEqual([
      expect.stringContaining(`they would be ${counted + 4 * (room + 1)} resources`),
    ]);
  });

  it('has the room that the guide says', () => {
    const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    const [, room = ''] = page.match(/\n- \*\*Room\*\*(.*?) A key,/s) ?? [];
    const one = countOf({});
    const integration = countOf({ integrations: integrations(2) }) - one;
    const more = (...subscriptions: object[]) => countOf({}, ...subscriptions) - one;
    const fifoArchive = countOf({ topic: 'fifo' }, archive) - one;
    const chat = more(slack);
    const second = more(slack, { ...slack, topic: 'operations' }) - chat;
    expect(room.replaceAll(/\s+/g, ' ')).toBe(
      `, of the ${maxResources} resources of a stack: ${one - integration}, and one more with a webhook on operations; for each integration ${integration} and one more with a pager; for each subscription ${more(newQueue)} of a new queue, ${more(lambda)} of a function, ${more(bus)} of an event bus, ${more(archive)} of an archive (${fifoArchive} of a FIFO topic), one of a channel of a chat and ${chat - 1} more of the first of a topic (${second} of the second), ${more(mail(1))} of anything else.`,
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
