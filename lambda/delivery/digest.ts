import type { CertificationEvent } from '../events/event.ts';

export interface Digest {
  readonly subject: string;
  readonly body: string;
}

/** AWS: "less than 100 characters", no line breaks or control characters. */
const maxSubject = 99;
const maxRows = 50;
/** Fifty rows of these stay far below the 256 KiB of a message. */
const maxRow = 200;

/**
 * One plain-text mail for people about the events of one delivery: a subject that says what
 * happened, then new and changed certifications by organization. It has names, and neither e-mail
 * addresses nor State Educator IDs.
 */
export function digestOf(integration: string, events: readonly CertificationEvent[]): Digest {
  const sections = kinds
    .map(({ type, what }) => {
      const ofType = events.filter((event) => event.type === type);
      return { type, title: countOf(ofType.length, what), events: ofType };
    })
    .filter(({ events }) => events.length > 0);
  return {
    subject: subjectOf(sections),
    body: [...sections.flatMap(sectionLines), `Integration: ${integration}`, ''].join('\n'),
  };
}

const kinds = [
  { type: 'certification.created', what: 'new certification' },
  { type: 'certification.updated', what: 'changed certification' },
  { type: 'certification.withdrawn', what: 'withdrawn certification' },
  { type: 'certification.restored', what: 'restored certification' },
] as const;

interface Section {
  readonly type: CertificationEvent['type'];
  readonly title: string;
  readonly events: readonly CertificationEvent[];
}

/** What happened, most telling first, and, if something is new, what it is. */
function subjectOf(sections: readonly Section[]): string {
  const counts = sections.map(({ title }) => title).join(', ');
  const [first] = sections;
  const isNews = first?.type === 'certification.created';
  const subject = isNews ? `${counts}: ${assessmentsOf(first.events)}` : counts;
  return cut(subject, maxSubject);
}

function assessmentsOf(events: readonly CertificationEvent[]): string {
  return [...Map.groupBy(events, ({ data }) => oneLine(data.assessment.assessment_name))]
    .map(([name, { length }]) => (length === 1 ? name : `${name} (${length})`))
    .join(', ');
}

function sectionLines({ title, events }: Section): string[] {
  const shown = events
    .toSorted((a, b) =>
      b.data.assessment.certified_on.localeCompare(a.data.assessment.certified_on),
    )
    .slice(0, maxRows);
  const byOrganization = Map.groupBy(shown, organizationOf);
  const lines = [...byOrganization].flatMap(([organization, ofOne]) => [
    organization,
    ...ofOne.map((event) => `  ${rowOf(event)}`),
    '',
  ]);
  const rest = events.length - shown.length;
  return [title, '', ...lines, ...(rest > 0 ? [`… and ${rest} more`, ''] : [])];
}

/** A withdrawal knows neither the organization's name nor the educator's: none is kept. */
function organizationOf(event: CertificationEvent): string {
  return event.type === 'certification.withdrawn'
    ? `Organization ${event.data.assessment.organization_id}`
    : cut(oneLine(event.data.assessment.organization_name), maxRow);
}

function rowOf(event: CertificationEvent): string {
  const { assessment, changed, late } = event.data;
  const who =
    event.type === 'certification.withdrawn'
      ? `assessment ${assessment.id}`
      : event.data.assessment.name;
  const notes = [
    ...(changed.length > 0 ? [`changed: ${changed.join(', ')}`] : []),
    ...(late ? ['late'] : []),
  ];
  const note = notes.length > 0 ? ` (${notes.join('; ')})` : '';
  return cut(
    oneLine(`${assessment.certified_on}  ${who}: ${assessment.assessment_name}${note}`),
    maxRow,
  );
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Line breaks and control characters in a partner's text would break the subject or forge a row. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** Counted as SNS may count, in UTF-16 units, and never within a character. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  let kept = '';
  for (const character of text) {
    if (kept.length + character.length > length - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
