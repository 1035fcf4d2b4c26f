import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { noticed } from '../../../lambda/condition-table.ts';
import { digestForChat, noticeForChat, withChat } from '../../../lambda/delivery/chat.ts';
import { type DigestOptions, digestMail, forDigest } from '../../../lambda/delivery/digest.ts';
import { conditionNotice } from '../../../lambda/delivery/notices.ts';
import { snsAnnouncer } from '../../../lambda/delivery/sns-announcer.ts';
import { type CertificationEvent, certificationEvent } from '../../../lambda/events/event.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { assessment } from '../../support/assessments.ts';

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
const options: DigestOptions = {
  integration: 'district-a',
  timeZone: 'UTC',
  stack: 'prod',
  detail: 'names',
  maxRows: 60,
};

function event(id: number, record: Partial<ReturnType<typeof assessment>> = {}, late = false) {
  return forDigest(
    certificationEvent({
      integration: 'district-a',
      type: 'certification.created',
      assessment: assessment({ id, ...record }),
      fields: 'all',
      revision: 1,
      late,
      time: '2026-11-21T08:00:04.120Z',
    }),
  );
}

const shown = (events: readonly CertificationEvent[], more: Partial<DigestOptions> = {}) =>
  customNotification.parse(digestForChat(events, { ...options, ...more }, now)).content;

describe('a digest in a chat', () => {
  it("has the mail's contents, in Markdown", () => {
    const events = [
      event(1, { name: 'Odalys Quillfeather', organization_name: 'Larkspur Valley Schools' }, true),
      event(2, { name: 'Ansel Thornbury', organization_name: 'Larkspur Valley Schools' }),
    ];
    const { title, description, nextSteps } = shown(events);
    const { subject, sections } = digestMail(events, options, now);
    expect(title).toBe(subject);
    expect(nextSteps).toBeUndefined();
    const lines = description.split('\n');
    expect(lines.slice(0, 4)).toEqual([
      '*2 new certifications*',
      'Larkspur Valley Schools',
      ...(sections[0]?.rows.map(({ text }) => `• ${text}`) ?? []),
    ]);
    expect(description).toContain('late: completed some time ago');
    expect(lines.at(-1)).toBe(
      'Sent by certification-notifier for the integration district-a (stack prod). Whom to ask: those in your organization who run the stack prod.',
    );
  });

  it('counts the rows that do not fit, and says how to get all of them', () => {
    const events = Array.from({ length: 200 }, (_, index) =>
      event(index + 1, { name: `Somebody With A Long Name ${index}` }),
    );
    const { description, nextSteps = [] } = shown(events);
    const rows = description.split('\n').filter((line) => line.startsWith('•')).length;
    expect(rows).toBeGreaterThan(15);
    expect(description).toContain(`and ${200 - rows} more`);
    expect(nextSteps).toEqual([
      'All of them, without names of people: `npx certification-notifier events --stack prod --integration district-a --from 2026-11-21 --to 2026-11-21 --csv`',
    ]);
  });

  it('counts the rows that do not fit into the mail', () => {
    const events = [1, 2, 3].map((id) => event(id));
    expect(shown(events, { maxRows: 1 }).description).toContain('and 2 more');
  });

  it('has only counts if mails have, by organization and assessment, and omits none', () => {
    const events = Array.from({ length: 90 }, (_, id) => event(id, { name: 'Odile' }));
    const { description, nextSteps } = shown(events, { detail: 'counts' });
    expect(description).toMatch(/^• .*: 90$/m);
    expect(description).not.toContain('Odile');
    expect(nextSteps).toBeUndefined();
  });

  it('has room for each kind, beside any number of another', () => {
    const withdrawn = certificationEvent({
      integration: 'district-a',
      type: 'certification.withdrawn',
      assessment: assessment({ id: 999 }),
      revision: 2,
      late: false,
      time: '2026-11-21T08:00:04.120Z',
    });
    const many = Array.from({ length: 200 }, (_, id) => event(id));
    const { description } = shown([...many, withdrawn]);
    expect(description).toContain('*1 withdrawn certification*\nThe partner does not show these');
    expect(description).toContain('assessment 999');
  });

  it.each([
    ['<!channel> hello', '‹!channel› hello'],
    ['<@U0123> & friends', '‹＠U0123› & friends'],
    ['*bold* _set_ ~off~ `code`', "∗bold∗ ＿set＿ ∼off∼ 'code'"],
    ['[here](https://evil.example.org)', '(here)(https: //evil.example.org)'],
    ['&lt;!here&gt; &#60;', '＆lt;!here＆gt; ＆＃60;'],
    ['\\*x', '/∗x'],
    ['# title', '＃ title'],
  ])("treats no part of a partner's text as Markdown: %s", (name, expected) => {
    const { description, title } = shown([
      event(1, { name, organization_name: name, assessment_name: name }),
    ]);
    expect(description.split('\n').filter((line) => line.includes(expected))).toHaveLength(2);
    const ours = description.replace(/^\*1 new certification\*$/m, '');
    expect(`${title}${ours}`).not.toMatch(/[<>*_~`[\]\\@#]|:\/\/|&\w+;/);
  });

  it('leaves resource names, mail addresses and the contact unchanged', () => {
    const contact = 'certifications@district.example.org, https://help.example.org/a_b';
    const { description } = shown([event(1, { assessment_name: 'first_aid by a@b.example.org' })], {
      contact,
    });
    expect(description).toContain(`Whom to ask: ${contact}.`);
    expect(description).toContain('first_aid by (address)');
  });

  it('fits with any text of the partner', () => {
    const long = '🧗‍♀️ _'.repeat(500);
    const record = { name: long, organization_name: long, assessment_name: long };
    for (const count of [1, 5, 60]) {
      const events = Array.from({ length: count }, (_, id) => event(id, record, true));
      expect(() => shown(events, { contact: 'x'.repeat(200) })).not.toThrow();
    }
  });
});

describe('a notice in a chat', () => {
  const settings = { name: 'district-a', timeZone: 'UTC', stack: 'prod' };
  const at = now.epochMilliseconds;

  it.each(Object.keys(noticed) as (keyof typeof noticed)[])(
    'has the condition, its severity and the next step: %s',
    (name) => {
      const open = { since: at - 600_000, number: 3, details: ['Day: 2026-11-20', '<!here> x'] };
      const begins = conditionNotice(settings, name, { ...open, owes: 'begins' }, at);
      const { content } = customNotification.parse(noticeForChat(begins));
      expect(content.title).toBe(`⚠️ Trouble: ${begins.subject}`);
      expect(content.nextSteps?.[0]).toBe(noticed[name].toDo);
      const { command } = noticed[name];
      expect(content.nextSteps?.length).toBe(command ? 2 : 1);
      if (command) expect(content.nextSteps?.[1]).toMatch(/^`npx certification-notifier .* prod/);
      expect(content.description).toContain('‹!here› x');
      // The chat says neither more nor less than the mail.
      for (const step of content.nextSteps ?? [])
        expect(begins.text).toContain(step.replaceAll('`npx', 'npx').replace(/`$/, ''));
    },
  );

  it.each(['ends', 'was'] as const)('says that the condition is over: %s', (owes) => {
    const open = { since: at - 600_000, goneAt: at, number: 1, owes };
    const notice = conditionNotice(settings, 'partner-silent', open, at);
    const { content } = customNotification.parse(noticeForChat(notice));
    expect(content.title).toBe(`✅ Over: ${notice.subject}`);
    expect(content.nextSteps).toBeUndefined();
  });

  it('without parts is shown as it is, and cut if it is too long', () => {
    const subject = 'district-a: baseline completed';
    const text = 'a line of many\n'.repeat(500);
    const { content } = customNotification.parse(noticeForChat({ subject, text }));
    expect(content.title).toBe(subject);
    expect(content.description).toMatch(
      /\n\(cut; mail subscribers of the operations topic have the whole text\)$/,
    );
  });
});

const topics = { events: 'e', alerts: 'mail-alerts', operations: 'mail-operations' };
const chats = { 'chat-alerts': 'chat-alerts', 'chat-operations': 'chat-operations' };

describe('an announcer with chats', () => {
  const client = new SNSClient({ region: 'us-east-1' });
  const sns = mockClient(client);
  const warnings: [string, unknown][] = [];
  const told = (topic: string) =>
    sns.commandCalls(PublishCommand, { TopicArn: topic }).map(({ args: [{ input }] }) => input);
  const announcer = (to: object = chats) => {
    const clock = new ManualClock();
    const journal = {
      warn: (what: string, details: unknown) => {
        warnings.push([what, details]);
      },
    };
    const all = { ...options, clock };
    const mails = snsAnnouncer({ mails: client, batches: client }, topics, all);
    return { mails, both: withChat(mails, client, to, { ...all, journal }) };
  };
  beforeEach(() => {
    sns.reset();
    sns.on(PublishCommand).resolves({});
    warnings.length = 0;
  });
  const refuse = (TopicArn: string, name = 'NotFoundException') =>
    sns.on(PublishCommand, { TopicArn }).rejects(Object.assign(new Error('no'), { name }));
  const accept = (TopicArn: string) => sns.on(PublishCommand, { TopicArn }).resolves({});

  it('is the plain announcer without a chat', () => {
    const { mails, both } = announcer({});
    expect(both).toBe(mails);
  });

  it('sends two SNS messages for one digest: the usual mail, and a custom notification', async () => {
    expect(await announcer().both.tellPeople([event(1)])).toEqual({ accepted: true });
    const [mail] = told('mail-alerts');
    expect(mail?.Subject).toContain('1 new certification');
    expect(mail?.MessageStructure).toBeUndefined();
    const [chat] = told('chat-alerts');
    expect(chat?.Subject).toBeUndefined();
    customNotification.parse(JSON.parse(chat?.Message ?? ''));
  });

  it('sends to chats only their kinds of notices', async () => {
    const { both } = announcer({ 'chat-operations': 'chat-operations' });
    await both.tellPeople([event(1)]);
    expect(told('chat-alerts')).toEqual([]);
    await both.notify({ subject: 's', text: 't' });
    expect(told('chat-operations')).toHaveLength(1);
  });

  it('takes a digest for told when the mail has it, and logs that the chat refused it', async () => {
    refuse('chat-alerts');
    // Each tick may run in another process.
    for (const id of [1, 2])
      expect(await announcer().both.tellPeople([event(id)])).toEqual({ accepted: true });
    expect(told('mail-alerts').map(({ Subject }) => Subject)).toEqual([
      expect.stringContaining('1 new certification'),
      expect.stringContaining('1 new certification'),
    ]);
    expect(warnings).toMatchObject([
      ['digest refused', { where: 'chat', code: 'NotFoundException' }],
      ['digest refused', { where: 'chat', code: 'NotFoundException' }],
    ]);
  });

  it('owes a digest that the mail refused, and sends it to the chat once the mail has it', async () => {
    refuse('mail-alerts');
    expect(await announcer().both.tellPeople([event(1)])).toMatchObject({ accepted: false });
    expect(told('chat-alerts')).toEqual([]);
    accept('mail-alerts');
    expect(await announcer().both.tellPeople([event(1)])).toEqual({ accepted: true });
    expect(told('chat-alerts')).toHaveLength(1);
  });

  it('omits text that SNS refuses, in a chat as in a mail', async () => {
    sns
      .on(PublishCommand, { TopicArn: 'chat-alerts' })
      .rejectsOnce(Object.assign(new Error('no'), { name: 'InvalidParameterException' }))
      .resolves({});
    const record = { name: 'Odalys Quillfeather' };
    expect(await announcer().both.tellPeople([event(1, record)])).toEqual({ accepted: true });
    const [, again] = told('chat-alerts');
    const { content } = customNotification.parse(JSON.parse(again?.Message ?? ''));
    expect(content.title).toContain('1');
    expect(JSON.stringify(content)).not.toContain('Odalys');
  });

  it.each(['chat-operations', 'mail-operations'])(
    'takes a notice for told if only %s refuses it, and logs the refusal',
    async (refusing) => {
      refuse(refusing);
      const outcome = await announcer().both.notify({ subject: 's', text: 't' });
      expect(outcome).toEqual({ accepted: true });
      expect(warnings).toMatchObject([
        ['notice refused', { where: refusing.split('-')[0], code: 'NotFoundException' }],
      ]);
    },
  );

  it('owes a notice that both refuse', async () => {
    refuse('chat-operations');
    refuse('mail-operations', 'AuthorizationErrorException');
    expect(await announcer().both.notify({ subject: 's', text: 't' })).toMatchObject({
      accepted: false,
      code: 'AuthorizationErrorException',
    });
  });
});
