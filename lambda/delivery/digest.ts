import type { AnnouncedAssessment, CertificationEvent } from '../events/event.ts';
import { chosen } from '../events/fields.ts';
import { ascii, cut, plain } from './plain-text.ts';

export interface Mail {
  readonly subject: string;
  readonly body: string;
}

export interface DigestOptions {
  readonly integration: string;
  /** Whether people are named, or only counted by organization and assessment. */
  readonly detail: 'names' | 'counts';
  /** Rows of each section; the rest is counted. */
  readonly maxRows: number;
}

/**
 * What SNS takes without question: the API reference says "UTF-8 text with no line breaks or control
 * characters, and less than 100 characters long", an earlier one ASCII. A digest that SNS refuses
 * would be owed for ever, so a subject keeps to both.
 */
const maxSubject = 99;
/** Four fifths of the 256 KiB of a message. */
const maxBodyBytes = 210_000;
/** UTF-16 units of one value of a row. */
const maxValue = 80;
/** What a row shows of a record, or has to know to hide it, besides the identifiers. */
const fields = ['seid', 'name', 'first_name', 'last_name', 'organization_name'];

const sectionsInOrder: readonly Kind[] = [
  { type: 'certification.created', noun: 'new certification', short: 'new', marksLate: true },
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
  /** Of what is changed or gone, everybody knows that it is not of today. */
  readonly marksLate?: boolean;
}

interface Row {
  readonly day: string;
  readonly organization: string;
  /** The assessment's name. */
  readonly what: string;
  readonly isLate: boolean;
  readonly text: string;
}

interface Section extends Kind {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** The same event, with no more of its record than a digest shows: up to thousands wait for one. */
export function forDigest(event: CertificationEvent): CertificationEvent {
  const assessment = chosen(event.data.assessment, fields);
  return { ...event, data: { ...event.data, assessment } };
}

/**
 * One plain-text mail for people about any number of events: a subject that says what happened, then
 * a section for each kind of change, newest first within organizations. A row is one line with its
 * values in a fixed order, because a mail is as often read in a proportional font as in another.
 *
 * It has neither e-mail addresses nor State Educator IDs, and names only if the events have them.
 */
export function digestMail(events: readonly CertificationEvent[], options: DigestOptions): Mail {
  const sections = sectionsOf(events);
  const bytes = maxBodyBytes / Math.max(1, sections.length);
  const isLate = sections.some(({ rows }) => rows.some((row) => row.isLate));
  return {
    subject: subjectOf(sections),
    body: [
      ...(sections.length === 0 ? ['Nothing has changed.', ''] : []),
      ...sections.flatMap((section) => linesOf(section, options, bytes)),
      ...(isLate ? ['late: completed some time ago, and shown by the partner only now.', ''] : []),
      `Integration: ${options.integration}`,
      '',
    ].join('\n'),
  };
}

/** The same in numbers alone, without any text of the partner's: for when SNS refuses that one. */
export function bareMail(
  events: readonly CertificationEvent[],
  { integration }: DigestOptions,
): Mail {
  const titles = sectionsOf(events).map(({ title }) => title);
  return {
    subject: cut(titles.join('; '), maxSubject),
    body: [
      ...titles,
      '',
      'Who and what it was is left out: SNS has refused the mail that says it.',
      '',
      `Integration: ${integration}`,
      '',
    ].join('\n'),
  };
}

function sectionsOf(events: readonly CertificationEvent[]): Section[] {
  return sectionsInOrder.flatMap((kind) => {
    const rows = events.filter(({ type }) => type === kind.type).map((event) => rowOf(event, kind));
    const title = `${rows.length} ${kind.noun}${rows.length === 1 ? '' : 's'}`;
    return rows.length === 0 ? [] : { ...kind, title, rows };
  });
}

function rowOf({ data }: CertificationEvent, { marksLate = false }: Kind): Row {
  const { assessment, changed, late } = data;
  const { id, certified_on: day, organization_id } = assessment;
  // A withdrawal, or an event with few fields, has none of these.
  const { name, first_name, last_name, organization_name, seid }: AnnouncedAssessment = assessment;
  const shown = (text: string | null | undefined) => plain(text ?? '', maxValue, seid ?? '');
  const who = shown(name || `${first_name ?? ''} ${last_name ?? ''}`);
  const what = shown(assessment.assessment_name) || 'an assessment without a name';
  const byId =
    organization_id === null ? 'Organization not known' : `Organization ${organization_id}`;
  const isLate = late && marksLate;
  const notes = [
    ...(changed.length > 0 ? [`changed: ${plain(changed.join(', '), 2 * maxValue)}`] : []),
    ...(isLate ? ['late'] : []),
    ...(data.replay ? ['sent again'] : []),
  ];
  return {
    day,
    organization: shown(organization_name) || byId,
    what,
    isLate,
    text: [day, who || `assessment ${id}`, what, ...notes].join(' | '),
  };
}

function linesOf(
  { title, note, rows }: Section,
  { detail, maxRows }: DigestOptions,
  bytes: number,
): string[] {
  const shown = (detail === 'names' ? newestOf(rows) : countsOf(rows)).slice(0, maxRows);
  const lines: string[] = [];
  let left = bytes;
  let rest = rows.length;
  for (const [organization, entries] of Map.groupBy(shown, (row) => row.organization)) {
    const block: string[] = [];
    left -= Buffer.byteLength(organization) + 3;
    for (const { text, stands } of entries) {
      left -= Buffer.byteLength(text) + 3;
      if (left < 0) break;
      block.push(`  ${text}`);
      rest -= stands;
    }
    if (block.length > 0) lines.push(organization, ...block, '');
  }
  return [
    title,
    ...(note === undefined ? [] : [note]),
    '',
    ...lines,
    ...(rest > 0 ? [`and ${rest} more`, ''] : []),
  ];
}

/** One that is shown, and how many events it stands for. */
type Shown = Pick<Row, 'organization' | 'text'> & { readonly stands: number };

/** Of equally new ones, those that came first. */
function newestOf(rows: readonly Row[]): Shown[] {
  return rows
    .toSorted((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : 0))
    .map((row) => ({ ...row, stands: 1 }));
}

/** By organization and assessment. */
function countsOf(rows: readonly Row[]): Shown[] {
  return [...Map.groupBy(rows, ({ organization, what }) => `${organization}|${what}`).values()]
    .sort((a, b) => b.length - a.length || ((a[0]?.what ?? '') < (b[0]?.what ?? '') ? -1 : 1))
    .flatMap((alike) => {
      const late = alike.filter(({ isLate }) => isLate).length;
      const counts = `${alike.length}${late > 0 ? ` (${late} late)` : ''}`;
      return alike.slice(0, 1).map(({ organization, what }) => ({
        organization,
        text: `${what}: ${counts}`,
        stands: alike.length,
      }));
    });
}

/** "3 new certifications: CPR (2), First Aid; 1 changed", with as many names as there is room for. */
function subjectOf([first, ...others]: readonly Section[]): string {
  if (first === undefined) return 'Nothing has changed';
  const also = others.map(({ rows, short }) => `; ${rows.length} ${short}`).join('');
  const room = maxSubject - first.title.length - also.length;
  const names = [...Map.groupBy(first.rows, ({ what }) => what)]
    .sort(([, a], [, b]) => b.length - a.length)
    .flatMap(([name, { length: number }]) => {
      const readable = ascii(name);
      return readable === undefined
        ? []
        : { text: number === 1 ? readable : `${readable} (${number})`, number };
    });
  let best = '';
  let list = '';
  let rest = first.rows.length;
  for (const { text, number } of names) {
    list += `${list === '' ? ': ' : ', '}${text}`;
    rest -= number;
    const whole = rest > 0 ? `${list} and ${rest} more` : list;
    if (whole.length > room) break;
    best = whole;
  }
  return cut(`${first.title}${best}${also}`, maxSubject);
}
