import type { CertificationEvent } from '../events/event.ts';

export interface Digest {
  readonly subject: string;
  readonly body: string;
}

/** AWS: "less than 100 characters", no line breaks or control characters. */
const maxSubject = 99;
const maxRows = 50;

/**
 * One plain-text mail for people about the events of one delivery: a subject that says what
 * happened, then new and changed certifications by organization. It has names, and neither e-mail
 * addresses nor State Educator IDs.
 */
export function digestOf(integration: string, events: readonly CertificationEvent[]): Digest {
  const created = events.filter(({ type }) => type === 'certification.created');
  const updated = events.filter(({ type }) => type === 'certification.updated');
  return {
    subject: subjectOf(created, updated),
    body: [
      ...section(countOf(created.length, 'new certification'), created),
      ...section(countOf(updated.length, 'changed certification'), updated),
      `Integration: ${integration}`,
      '',
    ].join('\n'),
  };
}

function subjectOf(
  created: readonly CertificationEvent[],
  updated: readonly CertificationEvent[],
): string {
  if (created.length === 0) return countOf(updated.length, 'changed certification');
  const byAssessment = [
    ...Map.groupBy(created, ({ data }) => oneLine(data.assessment.assessment_name)),
  ]
    .map(([name, { length }]) => (length === 1 ? name : `${name} (${length})`))
    .join(', ');
  const changed = updated.length === 0 ? '' : `, ${updated.length} changed`;
  const subject = `${countOf(created.length, 'new certification')}${changed}: ${byAssessment}`;
  const characters = [...subject];
  return characters.length <= maxSubject
    ? subject
    : `${characters
        .slice(0, maxSubject - 1)
        .join('')
        .trimEnd()}…`;
}

function section(title: string, events: readonly CertificationEvent[]): string[] {
  if (events.length === 0) return [];
  const shown = events
    .toSorted((a, b) =>
      b.data.assessment.certified_on.localeCompare(a.data.assessment.certified_on),
    )
    .slice(0, maxRows);
  const byOrganization = Map.groupBy(shown, ({ data }) => data.assessment.organization_name);
  const lines = [...byOrganization].flatMap(([organization, ofOne]) => [
    oneLine(organization),
    ...ofOne.map((event) => `  ${rowOf(event)}`),
    '',
  ]);
  const rest = events.length - shown.length;
  return [title, '', ...lines, ...(rest > 0 ? [`… and ${rest} more`, ''] : [])];
}

function rowOf({ data: { assessment, changed, late } }: CertificationEvent): string {
  const notes = [
    ...(changed.length > 0 ? [`changed: ${changed.join(', ')}`] : []),
    ...(late ? ['late'] : []),
  ];
  const note = notes.length > 0 ? ` (${notes.join('; ')})` : '';
  return oneLine(
    `${assessment.certified_on}  ${assessment.name}: ${assessment.assessment_name}${note}`,
  );
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Line breaks and control characters in a partner's text would break the subject or forge a row. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
