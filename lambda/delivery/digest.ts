import { Temporal } from 'temporal-polyfill';
import { commandLine } from '../condition-table.ts';
import { type AnnouncedAssessment, type CertificationEvent, chosen } from '../events/event.ts';
import type { Notice } from '../ports/announcer.ts';
import type { TickSettings } from '../settings.ts';
import { inAscii } from './ascii.ts';

export interface DigestOptions
  extends Readonly<Pick<TickSettings['alerts'], 'detail' | 'maxRows' | 'contact'>>,
    Pick<TickSettings, 'timeZone' | 'stack'> {
  /** ASCII, forty characters at most. */
  readonly integration: string;
}

/**
 * The length that SNS accepts for certain. The API reference says "UTF-8 text with no line breaks
 * or control characters, and less than 100 characters long", an earlier one ASCII. A digest that
 * SNS refuses would be owed for ever, so a subject obeys both.
 */
const maxSubject = 99;
/** Four fifths of the 256 KiB of a message. */
const maxBodyBytes = 210_000;
/** UTF-16 units of one value of a row. */
const maxValue = 80;
/** The fields that a row shows, or must know to hide, besides the identifiers. */
const fields = ['seid', 'name', 'first_name', 'last_name', 'organization_name'];

const sectionsInOrder: readonly Kind[] = [
  { type: 'certification.created', noun: 'new certification', short: 'new' },
  { type: 'certification.restored', noun: 'restored certification', short: 'restored' },
  { type: 'certification.updated', noun: 'changed certification', short: 'changed' },
  {
    type: 'certification.withdrawn',
    noun: 'withdrawn certification',
    short: 'withdrawn',
    note: 'The partner does not show these any more.',
  },
  {
    type: 'certification.test',
    noun: 'test event',
    short: 'test',
    note: 'This is a test: the people and certifications are invented.',
  },
];

interface Kind {
  readonly type: CertificationEvent['type'];
  readonly noun: string;
  readonly short: string;
  readonly note?: string;
}

/** One row of a section: an event, or all events with the same assessment. */
interface Row {
  readonly organization: string;
  readonly day: string;
  /** The assessment's name. */
  readonly what: string;
  /** The name as a subject can have it; absent: it cannot. */
  readonly subject: string | undefined;
  readonly isLate: boolean;
  readonly text: string;
  /** How many events it stands for. */
  readonly stands: number;
}

/** A mail with its sections. */
interface Digest extends Notice {
  readonly sections: readonly {
    readonly title: string;
    readonly note?: string | undefined;
    /** In the order in which they are shown. */
    readonly rows: readonly Row[];
    /** How many events it is about. */
    readonly count: number;
  }[];
}

interface Section extends Kind {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Reduces an event's record to the fields of a digest: thousands of events may wait for one. */
export function forDigest(event: CertificationEvent): CertificationEvent {
  const assessment = chosen(event.data.assessment, fields);
  return { ...event, data: { ...event.data, assessment } };
}

/**
 * One plain-text mail for people about any number of events. The subject says how many there are of
 * each kind. A section for each kind follows, newest first within organizations, and then the
 * command that lists rows without room. A row is one line with its values in a fixed order, because
 * a mail is as often read in a proportional font as in another.
 *
 * It has neither e-mail addresses of people nor State Educator IDs, and names only if the events
 * have them.
 */
export function digestMail(
  events: readonly CertificationEvent[],
  options: DigestOptions,
  now: Temporal.Instant,
): Digest {
  const { integration, detail, maxRows } = options;
  const sections: Section[] = sectionsInOrder.flatMap((kind) => {
    const rows = events.filter(({ type }) => type === kind.type).map(rowOf);
    const title = `${rows.length} ${kind.noun}${rows.length === 1 ? '' : 's'}`;
    return rows.length === 0 ? [] : { ...kind, title, rows };
  });
  const bytes = maxBodyBytes / sections.length;
  const told = sections.map(({ title, note, rows }) => {
    // Events of one day stay in the order in which they came.
    const newest = rows.toSorted((a, b) => b.day.localeCompare(a.day));
    const shown = detail === 'names' ? newest : countsOf(rows);
    const { lines, rest, blocks } = linesOf(shown.slice(0, maxRows), rows.length, bytes);
    return {
      ...{ title, note, rest, rows: blocks.flatMap(([, ofIt]) => ofIt), count: rows.length },
      lines: [title, note ?? [], ''].flat().concat(lines),
    };
  });
  const lines = told.flatMap((section) => section.lines);
  if (sections.some(({ rows }) => rows.some(({ isLate }) => isLate)))
    lines.push('late: completed some time ago, and shown by the partner only now.', '');
  if (told.some(({ rest }) => rest > 0)) lines.push(...howToGetAll(events, options, now), '');
  const text = [...lines, ...senderOf(options).ofMail, ''].join('\n');
  const subject = `${integration}: ${whatHappened(sections, integration.length)}`;
  return { subject, text, sections: told };
}

/** Only the number, without any text of the partner's, in case SNS refuses that text. */
export function bareMail(events: number, options: DigestOptions): Notice {
  const subject = `${options.integration}: certifications that are new or have changed: ${events}`;
  const why = 'Names are left out: SNS has refused the mail that has them.';
  return { subject, text: [subject, '', why, '', ...senderOf(options).ofMail, ''].join('\n') };
}

/** The days from the first event until now, in the partner's time zone. */
export function howToGetAll(
  events: readonly CertificationEvent[],
  { integration, timeZone, stack }: DigestOptions,
  now: Temporal.Instant,
): string[] {
  const [first = now.toString()] = events.map(({ time }) => time).sort();
  const [from, to] = [Temporal.Instant.from(first), now].map((at) =>
    at.toZonedDateTimeISO(timeZone).toPlainDate(),
  );
  const command = commandLine({ ops: 'events' }, { at: `--stack ${stack}`, integration });
  return [
    'Those who run the notifier can list all of them, without names of people, by this command:',
    `  ${command} --from ${from} --to ${to} --csv`,
  ];
}

/** SNS's mails do not name their sender. */
export function senderOf({ integration, stack, contact }: DigestOptions) {
  const whom = contact ?? `those in your organization who run the stack ${stack}`;
  const sent = `Sent by certification-notifier for the integration ${integration} (stack ${stack}).`;
  const ask = `Whom to ask: ${whom}.`;
  return { sent, ask, ofMail: [sent, `${ask} A reply to this mail reaches nobody.`] };
}

function rowOf({ type, data }: CertificationEvent): Row {
  const { assessment, changed, late, replay } = data;
  const { id, certified_on: day, organization_id, assessment_name } = assessment;
  // A withdrawal, or an event with few fields, has none of these.
  const { name, first_name, last_name, organization_name, seid }: AnnouncedAssessment = assessment;
  const fullName = name || `${first_name ?? ''} ${last_name ?? ''}`;
  const who = plain(fullName, maxValue, seid) || `assessment ${id}`;
  const named = plain(assessment_name, maxValue, seid);
  const what = named || 'an assessment without a name';
  const byId =
    organization_id === null ? 'Organization not known' : `Organization ${organization_id}`;
  // Only new ones are marked: it is clear that changed or withdrawn ones are older.
  const isLate = late && type === 'certification.created';
  const notes = [
    ...(changed.length > 0 ? [`changed: ${plain(changed.join(', '), 2 * maxValue)}`] : []),
    ...(isLate ? ['late'] : []),
    ...(replay ? ['sent again'] : []),
  ];
  return {
    day,
    organization: plain(organization_name, maxValue, seid) || byId,
    what,
    // Cleaned once more: an identifier or an address may show only in this spelling.
    subject: plain(inAscii(named), maxValue, seid).replace('…', '...') || undefined,
    isLate,
    text: [day, who, what, ...notes].join(' | '),
    stands: 1,
  };
}

/** Rows by organization, as many as there is room for; the rest is counted. */
function linesOf(lines: readonly Row[], events: number, bytes: number) {
  let left = bytes;
  let rest = events;
  const shown: Row[] = [];
  for (const line of lines) {
    left -= Buffer.byteLength(line.organization + line.text) + 6;
    if (left < 0) break;
    rest -= line.stands;
    shown.push(line);
  }
  const blocks = [...Map.groupBy(shown, ({ organization }) => organization)];
  const told = blocks.flatMap(([name, ofIt]) => [name, ...ofIt.map(({ text }) => `  ${text}`), '']);
  return { lines: rest > 0 ? [...told, `and ${rest} more`, ''] : told, rest, blocks };
}

/** One row for each organization and assessment. */
function countsOf(rows: readonly Row[]): Row[] {
  const alike = Map.groupBy(rows, ({ organization, what }) => `${organization}\n${what}`);
  const counted = [...alike.values()].flatMap(([row, ...others]) => {
    if (row === undefined) return [];
    const late = [row, ...others].filter(({ isLate }) => isLate).length;
    const stands = 1 + others.length;
    return { ...row, text: `${row.what}: ${stands}${late > 0 ? ` (${late} late)` : ''}`, stands };
  });
  return counted.sort((a, b) => b.stands - a.stands || (a.text < b.text ? -1 : 1));
}

/**
 * "3 new certifications: CPR (2), First Aid; 1 changed", with as many names as there is room for. A
 * name that ASCII cannot carry is counted.
 *
 * @param integration characters of the integration's name, which comes first
 */
function whatHappened([first, ...others]: readonly Section[], integration: number): string {
  if (first === undefined) return 'nothing has changed';
  const left = maxSubject - integration - ': '.length - first.title.length;
  const also = others.map(({ rows, short }) => `; ${rows.length} ${short}`).join('');
  const sum = others.reduce((all, { rows }) => all + rows.length, 0);
  const shortest = also.length <= left ? also : `; ${sum} more`;
  const room = left - shortest.length;
  return `${first.title}${namesWithin(room, first.rows)}${shortest}`;
}

function namesWithin(room: number, rows: readonly Row[]): string {
  const names = [...Map.groupBy(rows, ({ subject }) => subject)]
    .flatMap(([name, { length }]) => (name === undefined ? [] : [{ name, length }]))
    .sort((a, b) => b.length - a.length);
  const lists = names.slice(0, Math.max(0, room)).map((_, last) => {
    const listed = names.slice(0, last + 1);
    const rest = listed.reduce((sum, { length }) => sum - length, rows.length);
    const list = listed.map(({ name, length }) => (length === 1 ? name : `${name} (${length})`));
    return `: ${list.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  });
  return lists.findLast(({ length }) => length <= room) ?? '';
}

/**
 * Direction marks, embeddings, overrides, isolates, and every other invisible character but
 * joiners. Two more are not allowed by XML 1.0, and SNS refuses a message that has one.
 */
const invisible = /(?![\u{200C}\u{200D}])\p{Cf}|[\u{FFFE}\u{FFFF}]/gu;
const breaks = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
/** Scripts that are written from right to left. */
const rightToLeft =
  /[\u{590}-\u{8FF}\u{FB1D}-\u{FDFF}\u{FE70}-\u{FEFE}\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
/**
 * E-mail addresses, by any character that is read as an at sign. With spaces or comments beside it
 * (RFC 5322, 4.4) only before a name with a dot: "CPR @ Home" is none.
 */
const address =
  /(?:[^\s<>()|,;]+ ?)?(?:\([^()]*\) ?)*[@＠﹫] ?(?:\([^()]*\) ?)*[^\s<>()|,;.．。｡․﹒]+[.．。｡․﹒][^\s<>()|,;]+|[^\s<>()|,;]+[@＠﹫][^\s<>()|,;]+/gu;
/** A shorter identifier would be found in too many words that mean something else. */
const minIdentifier = 4;
/** Made for the first text that is cut: it would be a tenth of the start of every new process. */
let graphemes: Intl.Segmenter | undefined;

/**
 * Makes the partner's text safe for a row: on one line, and without characters that could turn the
 * rest of the line around or forge a column or a row. E-mail addresses are replaced. The text has
 * at most `length` UTF-16 units and two more. Text from right to left is isolated, so that the
 * columns stay in their order.
 *
 * @param identifier left out, in upper or lower case, where it is a word by itself
 */
function plain(text: Text, length: number, identifier?: Text): string {
  // Only the beginning that could be shown: the expressions are quadratic, and a name may have any
  // length.
  const [bare = '', given = ''] = [identifier, text?.slice(0, length * 4)].map((one) => {
    const visible = (one ?? '').toWellFormed().replace(invisible, '');
    return visible.replace(breaks, ' ').replaceAll('|', '/').trim();
  });
  // Both as they would be shown: in the raw text, the identifier could be hidden among invisibles.
  const isNamed = bare.length >= minIdentifier && given.toLowerCase().includes(bare.toLowerCase());
  const readable = isNamed ? without(bare, given) : given;
  const isFree = !/[@＠﹫]/.test(readable);
  const whole = (isFree ? readable : readable.replace(address, '(address)')).trim();
  const shown = whole.length <= length ? whole : cut(whole, length);
  return rightToLeft.test(shown) ? `\u{2068}${shown}\u{2069}` : shown;
}

type Text = string | null | undefined;

function without(bare: string, text: string): string {
  const escaped = bare.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
  const word = `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}\\p{M}])`;
  return text.replace(new RegExp(word, 'giu'), '').replace(breaks, ' ');
}

/** It never cuts within one visible character. */
function cut(text: string, length: number): string {
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  let kept = '';
  for (const { segment } of graphemes.segment(text.slice(0, length * 2))) {
    if (kept.length + segment.length > length - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
