import type { SNSClient } from '@aws-sdk/client-sns';
import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { Announcer, DigestOutcome, Notice } from '../ports/announcer.ts';
import type { Journal } from '../ports/journal.ts';
import { bareMail, type DigestOptions, digestMail, howToGetAll, senderOf } from './digest.ts';
import { refusalKind } from './refusals.ts';
import { sending } from './sns-announcer.ts';

/** Topics that nothing subscribes to but Amazon Q Developer in chat applications; absent: nobody has asked for one. */
export interface ChatTopics {
  readonly 'chat-alerts'?: string | undefined;
  readonly 'chat-operations'?: string | undefined;
}

interface ChatOptions extends DigestOptions {
  readonly clock: Clock;
  readonly journal: Journal;
}

/** What Amazon Q shows of an application's own: "Custom notifications" in its administrator guide. */
interface CustomNotification {
  readonly version: '1.0';
  readonly source: 'custom';
  readonly content: {
    readonly textType: 'client-markdown';
    /** There is no field for how bad something is: it stands here. */
    readonly title: string;
    readonly description: string;
    readonly nextSteps?: readonly string[];
  };
}

const bare = 'Who and what it was is left out: SNS has refused the message that says it.';

/** Slack shows 3,000 characters of one text; what Amazon Q puts around it is not documented. */
const maxDescription = 2_500;

const signs = { trouble: '⚠️ Trouble: ', over: '✅ Over: ', news: 'ℹ️ ' } as const;

/**
 * Tells the chats as well, by topics of their own: a message for all protocols at once (`MessageStructure: json`) would
 * change what webhooks on the topics for people and for ops get.
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
      // Told in one of the two is told: a chat's topic that somebody has removed must not repeat mails for ever.
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

/** The same digest as the mail, in Markdown and in the room of a chat: what does not fit is counted. */
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
  // What is said in any case: the title, how many more there are, and what is late.
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

const isCut = '\n(cut; subscribers of operations have all of it)';

function cut(text: string): string {
  if (text.length <= maxDescription) return text;
  const lines = text
    .slice(0, maxDescription - isCut.length)
    .split('\n')
    .slice(0, -1);
  return `${lines.join('\n')}${isCut}`;
}

/**
 * A text, as it may stand in Markdown of Slack and of Teams: nothing in it mentions anybody, is a link, is set off, or
 * is an entity. Slack and Teams share no escape, so each sign becomes another that looks like it. Within a word, `_`
 * and `@` do nothing in either, and names of resources and mail addresses stay as they are.
 */
function unmarked(text: string): string {
  return text
    .replace(/&(?=#?\w+;)/g, '＆')
    .replaceAll('://', ': //')
    .replace(
      /[*~`<>[\]\\#]|(?<!\p{L}|\p{N})[_@]|_(?!\p{L}|\p{N})/gu,
      (sign) => lookAlikes[sign] ?? '',
    );
}

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
