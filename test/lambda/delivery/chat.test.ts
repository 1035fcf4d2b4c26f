import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { noticed } from '../../../lambda/condition-table.ts';
import { conditionNames } from '../../../lambda/decisions/conditions.ts';
import { digestForChat, noticeForChat, withChat } from '../../../lambda/delivery/chat.ts';
import { type DigestOptions, forDigest } from '../../../lambda/delivery/digest.ts';
import { conditionNotice } from '../../../lambda/delivery/notices.ts';
import { snsAnnouncer } from '../../../lambda/delivery/sns-announcer.ts';
import type { Announced, CertificationEvent } from '../../../lambda/events/event.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { assessment } from '../../support/assessments.ts';
import { eventOf } from '../events/announced.ts';
import { mailOptions } from './mail-options.ts';

/** "Custom notifications" in the administrator guide of Amazon Q Developer in chat applications. */
const customNotification = z.strictObject({
  version: z.literal('1.0'),
  source: z.literal('custom'),
  content: z.strictObject({
    textType: z.literal('client-markdown'),
    title: z.string().min(1).max(250),
    description: z.string().min(1).max(2_500),
    nextSteps: z.array(z.string().min(1).max(500)).min(1).optional(),
  }),
});

const now = Temporal.Instant.from('2026-11-21T08:05:00Z');
const event = (
  id: number,
  record: Partial<ReturnType<typeof assessment>> = {},
  more: Partial<Announced> = {},
) => forDigest(eventOf(assessment({ id, ...record }), more));
const withdrawn = event(999, {}, { type: 'certification.withdrawn' });

const shown = (events: readonly CertificationEvent[], more: Partial<DigestOptions> = {}) =>
  customNotification.parse(digestForChat(events, { ...mailOptions, ...more }, now)).content;

function screenOf(notification: unknown): string {
  const { title, description, nextSteps = [] } = customNotification.parse(notification).content;
  return `${[title, description, ...nextSteps].join('\n-----\n')}\n`;
}

describe('a digest in a chat', () => {
  it("has the mail's contents, in Markdown, and says how to get the rows without room", async () => {
    const ofSchools = (name: string) => ({ name, organization_name: 'Larkspur Valley Schools' });
    const events = [
      event(1, ofSchools('Odalys Quillfeather'), { late: true }),
      event(2, ofSchools('Ansel Thornbury')),
      event(3, { organization_name: 'Cinder Creek Academy' }),
      withdrawn,
    ];
    const screen = screenOf(digestForChat(events, { ...mailOptions, maxRows: 2 }, now));
    await expect(screen).toMatchFileSnapshot('digest/chat.approved.txt');
    expect(shown(events)).not.toHaveProperty('nextSteps');
  });

  it('has room for each kind, and counts the rows that do not fit', () => {
    const many = Array.from({ length: 200 }, (_, id) =>
      event(id, { name: `Somebody With A Long Name ${id}` }),
    );
    const { description } = shown([...many, withdrawn]);
    const rows = description.match(/^• .*Somebody/gm)?.length ?? 0;
    expect(rows).toBeGreaterThan(7);
    expect(description).toContain(`\nand ${200 - rows} more\n`);
    expect(description).toContain('*1 withdrawn certification*\nThe partner does not show these');
    expect(description).toContain('assessment 999');
  });

  it('has only counts if mails have, by organization and assessment, and omits none', () => {
    const events = Array.from({ length: 90 }, (_, id) => event(id, { name: 'Odile' }));
    const { description, nextSteps } = shown(events, { detail: 'counts' });
    expect(description).toMatch(/^• .*: 90$/m);
    expect(description).not.toContain('Odile');
    expect(nextSteps).toBeUndefined();
  });

  it.each([
    ['<!channel> hello', '‹!channel› hello'],
    ['<@U0123> & friends', '‹＠U0123› & friends'],
    ['*bold* _set_ ~off~ `code`', "∗bold∗ ＿set＿ ∼off∼ 'code'"],
    ['[here](https://evil.example.org)', '(here)(https: //evil.example.org)'],
    ['&lt;!here&gt; &#60;', '＆lt;!here＆gt; ＆＃60;'],
    ['\\*x', '/∗x'],
    ['# title', '＃ title'],
    ['it :tada: a:b 8:05:04 :+1::', 'it ：tada: a:b 8:05:04 ：+1::'],
  ])("treats no part of a partner's text as Markdown: %s", (name, expected) => {
    const { description, title } = shown([
      event(1, { name, organization_name: name, assessment_name: name }),
    ]);
    expect(description.split('\n').filter((line) => line.includes(expected))).toHaveLength(2);
    const ours = description.replace(/^\*1 new certification\*$/m, '');
    expect(`${title}${ours}`).not.toMatch(/[<>*_~`[\]\\@#]|:\/\/|&\w+;|:[a-z+][\w+-]*:/);
  });

  it('leaves resource names, mail addresses and the contact unchanged', () => {
    const contact = 'certifications@district.example.org, https://help.example.org/a_b';
    const named = event(1, { assessment_name: 'first_aid by a@b.example.org' });
    const { description } = shown([named], { contact });
    expect(description).toContain(`Whom to ask: ${contact}.`);
    expect(description).toContain('first_aid by (address)');
  });

  it.each([1, 5, 60])('fits with any text of the partner, in %i events', (count) => {
    const long = '🧗‍♀️ _'.repeat(500);
    const record = { name: long, organization_name: long, assessment_name: long };
    const events = Array.from({ length: count }, (_, id) => event(id, record, { late: true }));
    expect(() => shown(events, { contact: 'x'.repeat(200) })).not.toThrow();
  });
});

describe('a notice in a chat', () => {
  const settings = { name: 'district-a', timeZone: 'UTC', stack: 'prod' };
  const at = now.epochMilliseconds;
  const since = at - 600_000;

  it('has the severity, the condition and the next steps', async () => {
    const open = { since, goneAt: at, number: 1, details: ['<!here> x'] };
    const screens = (['begins', 'ends', 'was'] as const).map((owes) =>
      screenOf(noticeForChat(conditionNotice(settings, 'partner-silent', { ...open, owes }, at))),
    );
    await expect(screens.join('=====\n')).toMatchFileSnapshot('notices/chat.approved.txt');
  });

  it.each(conditionNames)('has one next step, or two with a command: %s', (name) => {
    const notice = noticeForChat(conditionNotice(settings, name, { since, number: 3 }, at));
    const { nextSteps } = customNotification.parse(notice).content;
    expect(nextSteps).toHaveLength(noticed[name].command ? 2 : 1);
  });

  it('without parts is shown as it is, and cut if it is too long', () => {
    const subject = 'district-a: baseline completed';
    const text = 'a line of many\n'.repeat(500);
    const { content } = customNotification.parse(noticeForChat({ subject, text }));
    expect(content.title).toBe(subject);
    expect(content.description).toMatch(
      /many\n\(cut; mail subscribers of the operations topic have the whole text\)$/,
    );
  });
});

const topics = { events: 'e', alerts: 'mail-alerts', operations: 'mail-operations' };
const chats = { 'chat-alerts': 'chat-alerts', 'chat-operations': 'chat-operations' };

describe('an announcer with chats', () => {
  const client = new SNSClient({ region: 'us-east-1' });
  const sns = mockClient(client);
  const warnings: [string, Record<string, unknown>][] = [];
  const told = (topic: string) =>
    sns.commandCalls(PublishCommand, { TopicArn: topic }).map(({ args: [{ input }] }) => input);
  const announcer = (to: object = chats) => {
    const journal = { warn: (...given: (typeof warnings)[number]) => void warnings.push(given) };
    const all = { ...mailOptions, clock: new ManualClock() };
    const mails = snsAnnouncer({ mails: client, batches: client }, topics, all);
    return { both: withChat(mails, client, to, { ...all, journal }) };
  };
  const named = (name: string) => Object.assign(new Error('no'), { name });
  beforeEach(() => {
    sns.reset();
    sns.on(PublishCommand).resolves({});
    warnings.length = 0;
  });

  it('sends two SNS messages for one digest: the usual mail, and a custom notification', async () => {
    await announcer().both.tellPeople([event(1)]);
    const [mail, chat] = [...told('mail-alerts'), ...told('chat-alerts')];
    expect(mail?.Subject).toContain('1 new certification');
    expect(mail).not.toHaveProperty('MessageStructure');
    expect(chat).not.toHaveProperty('Subject');
    customNotification.parse(JSON.parse(chat?.Message ?? ''));
  });

  it.each([
    ['digest', [], true, 1, []],
    ['digest', ['chat-alerts'], true, 1, ['chat']],
    ['digest', ['mail-alerts'], false, 0, []],
    ['notice', ['chat-operations'], true, 1, ['chat']],
    ['notice', ['mail-operations'], true, 1, ['mail']],
    ['notice', ['mail-operations', 'chat-operations'], false, 1, ['mail', 'chat']],
  ])('takes a %s for told that %j refuse: %s', async (what, refusing, ...expected) => {
    for (const TopicArn of refusing)
      sns.on(PublishCommand, { TopicArn }).rejects(named('NotFoundException'));
    const { both } = announcer();
    const { accepted } = await (what === 'digest'
      ? both.tellPeople([event(1)])
      : both.notify({ subject: 's', text: 't' }));
    const posted = told(what === 'digest' ? 'chat-alerts' : 'chat-operations').length;
    const logged = warnings.map(([event, { where, code }]) => {
      expect([event, code]).toEqual([`${what} refused`, 'NotFoundException']);
      return where;
    });
    expect([accepted, posted, logged]).toEqual(expected);
  });

  it('sends to chats only their kinds', async () => {
    const { both } = announcer({ 'chat-operations': 'chat-operations' });
    await both.tellPeople([event(1)]);
    await both.notify({ subject: 's', text: 't' });
    expect([told('chat-alerts').length, told('chat-operations').length]).toEqual([0, 1]);
  });

  it('omits text that SNS refuses, in a chat as in a mail', async () => {
    sns
      .on(PublishCommand, { TopicArn: 'chat-alerts' })
      .rejectsOnce(named('InvalidParameterException'))
      .resolves({});
    const record = { name: 'Odalys Quillfeather' };
    expect(await announcer().both.tellPeople([event(1, record)])).toEqual({ accepted: true });
    const [, again] = told('chat-alerts');
    const { content } = customNotification.parse(JSON.parse(again?.Message ?? ''));
    expect(content.title).toContain('1');
    expect(JSON.stringify(content)).not.toContain('Odalys');
  });
});
