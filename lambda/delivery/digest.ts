import type { CertificationEvent } from '../events/event.ts';
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
/** Different assessments and organizations that are told apart; far beyond what anybody reads. */
const maxKinds = 2_000;

const sectionsInOrder = [
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

/**
 * One plain-text mail for people about any number of events: a subject that says what happened, then
 * a section for each kind of change, newest first within organizations. A row is one line with its
 * values in a fixed order, because a mail is as often read in a proportional font as in another.
 *
 * It has neither e-mail addresses nor State Educator IDs, and names only if the events have them. It
 * keeps the rows it will show and counts, whatever the number of events.
 */
export class Digest {
  readonly #options: DigestOptions;
  readonly #sections: readonly Section[];

  constructor(options: DigestOptions) {
    this.#options = options;
    this.#sections = sectionsInOrder.map((kind) => new Section(kind, options));
  }

  add(event: CertificationEvent): void {
    this.#sections.find(({ kind }) => kind.type === event.type)?.add(event);
  }

  /** The same in numbers alone, without any text of the partner's: for when SNS refuses `mail`. */
  bareMail(): Mail {
    const sections = this.#sections.filter(({ count }) => count > 0);
    const titles = sections.map(({ title }) => title);
    return {
      subject: cut(titles.join('; ') || 'Nothing has changed', maxSubject),
      body: [
        ...titles,
        '',
        'Who and what it was is left out: SNS has refused the mail that says it.',
        '',
        `Integration: ${this.#options.integration}`,
        '',
      ].join('\n'),
    };
  }

  mail(): Mail {
    const sections = this.#sections.filter(({ count }) => count > 0);
    const bytes = maxBodyBytes / Math.max(1, sections.length);
    const isLate = sections.some(({ late }) => late > 0);
    return {
      subject: subjectOf(sections),
      body: [
        ...(sections.length === 0 ? ['Nothing has changed.', ''] : []),
        ...sections.flatMap((section) => section.lines(bytes)),
        ...(isLate
          ? ['late: completed some time ago, and shown by the partner only now.', '']
          : []),
        `Integration: ${this.#options.integration}`,
        '',
      ].join('\n'),
    };
  }
}

interface Kind {
  readonly type: string;
  readonly noun: string;
  readonly short: string;
  readonly note?: string;
  /** Of what is changed or gone, everybody knows that it is not of today. */
  readonly marksLate?: boolean;
}

interface Row {
  readonly day: string;
  readonly organization: string;
  readonly text: string;
}

class Section {
  readonly kind: Kind;
  readonly #options: DigestOptions;
  count = 0;
  late = 0;
  /** How many of each assessment, for the subject. */
  readonly assessments = new Map<string, number>();
  /** `names`: the newest so far, in no order, up to twice as many as will be shown. */
  #rows: Row[] = [];
  /** `counts`: by organization and assessment. */
  readonly #groups = new Map<
    string,
    { organization: string; what: string; count: number; late: number }
  >();

  constructor(kind: Kind, options: DigestOptions) {
    this.kind = kind;
    this.#options = options;
  }

  get title(): string {
    return countOf(this.count, this.kind.noun);
  }

  add({ data }: CertificationEvent): void {
    const { maxRows, detail } = this.#options;
    const what = shown(data.assessment, 'assessment_name') || 'an assessment without a name';
    const organization = organizationOf(data.assessment);
    const isLate = data.late && this.kind.marksLate === true;
    this.count += 1;
    if (isLate) this.late += 1;
    if (this.assessments.has(what) || this.assessments.size < maxKinds)
      this.assessments.set(what, (this.assessments.get(what) ?? 0) + 1);

    if (detail === 'counts') {
      this.#count(organization, what, isLate);
      return;
    }
    const { certified_on: day } = data.assessment;
    this.#rows.push({ day, organization, text: rowOf({ ...data, late: isLate }, what) });
    if (this.#rows.length >= 2 * maxRows) this.#rows = this.#newest();
  }

  lines(bytes: number): string[] {
    const { note } = this.kind;
    const shown = this.#options.detail === 'names' ? this.#newest() : this.#counted();
    const lines: string[] = [];
    let left = bytes;
    let rest = this.count;
    for (const [organization, rows] of Map.groupBy(shown, (row) => row.organization)) {
      const block: string[] = [];
      left -= Buffer.byteLength(organization) + 3;
      for (const { text, stands } of rows) {
        left -= Buffer.byteLength(text) + 3;
        if (left < 0) break;
        block.push(`  ${text}`);
        rest -= stands;
      }
      if (block.length > 0) lines.push(organization, ...block, '');
    }
    return [
      this.title,
      ...(note === undefined ? [] : [note]),
      '',
      ...lines,
      ...(rest > 0 ? [`and ${rest} more`, ''] : []),
    ];
  }

  #count(organization: string, what: string, late: boolean): void {
    const key = `${organization}|${what}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (this.#groups.size >= maxKinds) return;
      group = { organization, what, count: 0, late: 0 };
      this.#groups.set(key, group);
    }
    group.count += 1;
    if (late) group.late += 1;
  }

  /** Of equally new ones, those that came first. */
  #newest() {
    return this.#rows
      .toSorted((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : 0))
      .slice(0, this.#options.maxRows)
      .map((row) => ({ ...row, stands: 1 }));
  }

  #counted() {
    return [...this.#groups.values()]
      .sort((a, b) => b.count - a.count || (a.what < b.what ? -1 : 1))
      .slice(0, this.#options.maxRows)
      .map(({ organization, what, count, late }) => ({
        organization,
        text: `${what}: ${count}${late > 0 ? ` (${late} late)` : ''}`,
        stands: count,
      }));
  }
}

/** "3 new certifications: CPR (2), First Aid; 1 changed", with as many names as there is room for. */
function subjectOf([first, ...others]: readonly Section[]): string {
  if (first === undefined) return 'Nothing has changed';
  const also = others.map(({ count, kind }) => `; ${count} ${kind.short}`).join('');
  const room = maxSubject - first.title.length - also.length;
  return cut(`${first.title}${namesWithin(room, first)}${also}`, maxSubject);
}

function namesWithin(room: number, { assessments, count }: Section): string {
  const names = [...assessments]
    .sort(([, a], [, b]) => b - a)
    .flatMap(([name, number]) => {
      const readable = ascii(name);
      return readable === undefined
        ? []
        : { text: number === 1 ? readable : `${readable} (${number})`, number };
    });
  let best = '';
  let list = '';
  let rest = count;
  for (const { text, number } of names) {
    list += `${list === '' ? ': ' : ', '}${text}`;
    rest -= number;
    const whole = rest > 0 ? `${list} and ${rest} more` : list;
    if (whole.length > room) break;
    best = whole;
  }
  return best;
}

type Data = CertificationEvent['data'];

/** The organization as its events know it: a withdrawal, or one with few fields, has no name of it. */
function organizationOf(assessment: Data['assessment']): string {
  const { organization_id: id } = assessment;
  const byId = id === null ? 'Organization not known' : `Organization ${id}`;
  return shown(assessment, 'organization_name') || byId;
}

function rowOf({ assessment, changed, late, ...rest }: Data, what: string): string {
  const name =
    textOf(assessment, 'name') ||
    `${textOf(assessment, 'first_name')} ${textOf(assessment, 'last_name')}`;
  const who = plain(name, maxValue, textOf(assessment, 'seid'));
  const notes = [
    ...(changed.length > 0 ? [`changed: ${plain(changed.join(', '), 2 * maxValue)}`] : []),
    ...(late ? ['late'] : []),
    ...('replay' in rest && rest.replay === true ? ['sent again'] : []),
  ];
  return [assessment.certified_on, who || `assessment ${assessment.id}`, what, ...notes].join(
    ' | ',
  );
}

/** A field as a row shows it: without the State Educator ID that its own record has. */
function shown(assessment: Data['assessment'], field: string): string {
  return plain(textOf(assessment, field), maxValue, textOf(assessment, 'seid'));
}

/** A field that an event need not carry. */
function textOf(assessment: object, field: string): string {
  const value: unknown = Reflect.get(assessment, field);
  return typeof value === 'string' ? value : '';
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
