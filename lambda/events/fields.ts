import type { Assessment, ResultPart } from './assessment.ts';
import type { AnnouncedAssessment, Identifiers } from './event.ts';

/**
 * What of a record may leave in an event: everything, also what the API's document does not name;
 * the identifiers; or the identifiers and the fields of this list, by the API's names.
 */
export type FieldChoice = 'all' | 'identifiers' | readonly string[];

/** UTF-8 bytes: four for each of 256 characters. */
const maxNameBytes = 1_024;

/**
 * The part of a record that was chosen to leave. Of `results` in a list, each part has its documented
 * fields only: a list is a promise that nothing else leaves, whatever the platform adds one day.
 */
export function chosen(assessment: Assessment, fields: FieldChoice): AnnouncedAssessment {
  if (fields === 'all') return assessment;
  const kept: AnnouncedAssessment = identifiersOf(assessment);
  if (fields === 'identifiers') return kept;
  for (const field of fields) if (Object.hasOwn(assessment, field)) kept[field] = assessment[field];
  if (kept.results) kept.results = kept.results.map(documentedPart);
  return kept;
}

/** What every event has of an assessment. Not personal. */
export function identifiersOf(assessment: Identifiers): Identifiers {
  const { id, organization_id, assessment_name, certified_on } = assessment;
  return { id, organization_id, assessment_name, certified_on };
}

/**
 * A name that fits wherever a limit leaves little room (a message attribute, the ledger's item, an
 * event that is too large): at most 1,024 bytes of UTF-8, with an ellipsis where it was cut.
 */
export function briefName(name: string): string;
export function briefName(name: string | null): string | null;
export function briefName(name: string | null): string | null {
  if (name === null) return null;
  if (name.length * 3 <= maxNameBytes || Buffer.byteLength(name) <= maxNameBytes) return name;
  let kept = '';
  let bytes = Buffer.byteLength('…');
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxNameBytes) break;
    kept += character;
  }
  return `${kept}…`;
}

function documentedPart(part: ResultPart): ResultPart {
  const { assessment_id, assessment_name, certified_on, proctor_id, proctor_name } = part;
  return { assessment_id, assessment_name, certified_on, proctor_id, proctor_name };
}
