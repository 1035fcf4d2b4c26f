import type { SNSClient } from '@aws-sdk/client-sns';
import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { Announcer, DigestOutcome, Notice } from '../ports/announcer.ts';
import type { Journal } from '../ports/journal.ts';
import { bareMail, type DigestOptions, digestMail, howToGetAll, senderOf } from './digest.ts';
import { refusalKind } from './refusals.ts';
import { sending } from './sns-announcer.ts';

/**
 * Topics to which only Amazon Q Developer in chat applications subscribes; absent: none is
 * configured.
 */
export interface ChatTopics {
  readonly 'chat-alerts'?: string | undefined;
  readonly 'chat-operations'?: string | undefined;
}

interface ChatOptions extends DigestOptions {
  readonly clock: Clock;
  readonly journal: Journal;
}

/**
 * An application's own notification, as Amazon Q shows it: "Custom notifications" in its
 * administrator guide.
 */
interface CustomNotification {
  readonly version: '1.0';
  readonly source: 'custom';
  readonly content: {
    readonly textType: 'client-markdown';
    /** It begins with the severity, which has no field of its own. */
    readonly title: string;
    readonly description: string;
    readonly nextSteps?: readonly string[];
  };
}

const bare = 'Names are left out: SNS has refused the text that has them.';

/** Slack shows 3,000 characters of one text; Amazon Q adds an undocumented frame. */
const maxDescription = 2_500;

const signs = { trouble: '⚠️ Trouble: ', over: '✅ Over: ', news: 'ℹ️ ' } as const;

/**
 * Posts to the chats as well, through topics of their own. One message for all protocols
 * (`MessageStructure: json`) would change the content for webhooks on the topics for people and for
 * ops.
 *
 * @returns `announcer` itself where no chat is configured
 */
export function withChat(
  announcer: Announcer,
  mails: SNSClient,
  topics: ChatTopics,
  options: ChatOptions,
): Announcer {
  const { 'chat-alerts': alerts, 'chat-operations': operations } = topics;
  if (alerts === undefined && operations === undefined) return announcer;
  const send = sending(mails);
  const post = (topic: string, notification: CustomNotification) =>
    send(topic, { Message: JSON.stringify(notification) });
  const tellChat = async (topic: string, events: readonly CertificationEvent[]) => {
    const outcome = await post(topic, digestForChat(events, options, options.clock.now()));
    if (outcome.accepted || refusalKind(outcome.code) !== 'invalid') return outcome;
    const { subject } = bareMail(events.length, options);
    return post(topic, custom(unmarked(subject), bare));
  };
  const noteRefused = (what: string, where: string, { code, denial }: Refused) =>
    options.journal.warn(what, { where, code, problem: denial });
  return {
    ...announcer,
    ...(alerts !== undefined && {
      // The mail decides: events that wait for a chat would repeat in every mail, and hold up the next one.
      async tellPeople(events) {
        const outcome = await announcer.tellPeople(events);
        if (!outcome.accepted) return outcome;
        const chat = await tellChat(alerts, events);
        if (!chat.accepted) noteRefused('digest refused', 'chat', chat);
        return outcome;
      },
    }),
    ...(operations !== undefined && {
      // One accepted output suffices: a topic for chats that somebody has removed must not repeat
      // mails for ever.
      async notify(notice) {
        const [mail, chat] = await Promise.all([
          announcer.notify(notice),
          post(operations, noticeForChat(notice)),
        ]);
        for (const [where, outcome] of Object.entries({ mail, chat }))
          if (!outcome.accepted) noteRefused('notice refused', where, outcome);
        return mail.accepted || chat.accepted ? accepted : mail;
      },
    }),
  };
}

const accepted: DigestOutcome = { accepted: true };

type Refused = Extract<DigestOutcome, { accepted: false }>;

function custom(title: string, description: string, nextSteps: readonly string[] = []) {
  return {
    version: '1.0',
    source: 'custom',
    content: {
      textType: 'client-markdown',
      title,
      description,
      ...(nextSteps.length > 0 && { nextSteps }),
    },
  } satisfies CustomNotification;
}

/**
 * The same digest as the mail, in Markdown and in the room of a chat. Rows without room are
 * counted.
 */
export function digestForChat(
  events: readonly CertificationEvent[],
  options: DigestOptions,
  now: Temporal.Instant,
): CustomNotification {
  const { subject, sections } = digestMail(events, options, now);
  const { sent, ask } = senderOf(options);
  // Ops' own text: an address in it has to work.
  const end = `${sent} ${ask}`;
  const room = Math.floor((maxDescription - end.length) / sections.length);
  const told = sections.map((section) => within(room, section));
  const isLate = sections.some(({ rows }) => rows.some((row) => row.isLate));
  const lines = [
    ...told.flatMap((one) => one.lines),
    ...(isLate ? ['late: completed some time ago, and shown by the partner only now.', ''] : []),
    end,
  ];
  const [, command = ''] = howToGetAll(events, options, now);
  const steps = told.some(({ rest }) => rest > 0)
    ? [`All of them, without names of people: \`${command.trim()}\``]
    : [];
  return custom(unmarked(subject), lines.join('\n'), steps);
}

type Section = ReturnType<typeof digestMail>['sections'][number];

/** As many rows as there is room for. */
function within(room: number, { title, note, rows, count }: Section) {
  // Room for the title, the number of further rows, and the note about late ones.
  let left = room - title.length - (note?.length ?? 0) - 120;
  let rest = count;
  const lines = [`*${title}*`, ...(note ? [note] : [])];
  let organization: string | undefined;
  for (const row of rows) {
    const heading = row.organization === organization ? [] : [unmarked(row.organization)];
    const added = [...heading, `• ${unmarked(row.text)}`];
    left -= added.join('\n').length + 1;
    if (left < 0) break;
    lines.push(...added);
    organization = row.organization;
    rest -= row.stands;
  }
  return { lines: [...lines, ...(rest > 0 ? [`and ${rest} more`] : []), ''], rest };
}

export function noticeForChat({ subject, text, parts }: Notice): CustomNotification {
  if (parts === undefined) return custom(unmarked(subject), cut(unmarked(text)));
  const { severity, about, steps } = parts;
  const description = about.map(unmarked).join('\n\n');
  return custom(`${signs[severity]}${unmarked(subject)}`, cut(description), steps);
}

const isCut = '\n(cut; mail subscribers of the operations topic have the whole text)';

function cut(text: string): string {
  if (text.length <= maxDescription) return text;
  const lines = text
    .slice(0, maxDescription - isCut.length)
    .split('\n')
    .slice(0, -1);
  return `${lines.join('\n')}${isCut}`;
}

/**
 * Makes a text safe for the Markdown of Slack and of Teams: nothing in it mentions anybody, is a
 * link, is set off, is an emoji, or is an entity. Slack and Teams share no escape, so each sign becomes another
 * that looks like it. Within a word, `_` and `@` do nothing in either, so names of resources and
 * mail addresses stay as they are.
 */
function unmarked(text: string): string {
  return text
    .replace(/&(?=#?\w+;)/g, '＆')
    .replaceAll('://', ': //')
    .replace(emojiOrArn, (found) => (found === ':' ? '：' : found))
    .replace(
      /[*~`<>[\]\\#]|(?<!\p{L}|\p{N})[_@]|_(?!\p{L}|\p{N})/gu,
      (sign) => lookAlikes[sign] ?? '',
    );
}

/** The first colon of `:name:`; times and ARNs have their colons, too. */
const emojiOrArn = /\barn:aws[a-z-]*:[a-z]+:[a-z\d-]*:\d{12}:|:(?!\d\d:)(?=[\p{L}\p{N}_+'-]+:)/gu;

const lookAlikes: Readonly<Record<string, string>> = {
  '*': '∗',
  _: '＿',
  '~': '∼',
  '`': "'",
  '<': '‹',
  '>': '›',
  '[': '(',
  ']': ')',
  '\\': '/',
  '@': '＠',
  '#': '＃',
};
