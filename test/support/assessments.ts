import fc from 'fast-check';
import type { Assessment } from '../../lambda/events/assessment.ts';
import type { DocumentedRecord } from '../../local/documented-record.ts';

const firstId = 48_213;
const proctor = { proctor_id: 901, proctor_name: 'Ansel Thornbury' };

/**
 * An invented assessment without parts: its one result describes itself (docs/partner.md, 2.3).
 * Each id belongs to another person, since a day with more than a page of one name cannot be
 * proven.
 */
export function assessment(overrides: Partial<DocumentedRecord> = {}): DocumentedRecord {
  const { id = firstId } = overrides;
  const who = id === firstId ? '' : `-${String(id).padStart(5, '0')}`;
  const [first_name, last_name] = [`Odalys${who}`, `Quillfeather${who}`];
  const { assessment_name = 'Rope Bridge Safety', certified_on = '2026-11-20' } = overrides;
  return {
    id,
    seid: `SEID-${id}`,
    name: `${first_name} ${last_name}`,
    first_name,
    last_name,
    email: `educator-${id}@example.org`,
    organization_id: 7,
    organization_name: 'Larkspur Valley Schools',
    assessment_name,
    certified_on,
    results: [{ assessment_id: id, assessment_name, certified_on, ...proctor }],
    ...overrides,
  };
}

const [min, max] = [new Date('2000-01-01'), new Date('2100-01-01')];
const day = fc
  .date({ min, max, noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

const [id, text] = [fc.integer({ min: 1 }), fc.string({ unit: 'grapheme' })];
const part = fc.record({
  ...{ assessment_id: id, assessment_name: text, certified_on: day },
  ...{ proctor_id: id, proctor_name: text },
});

/** Any record that the document allows. */
export const anyAssessment: fc.Arbitrary<DocumentedRecord> = fc.record({
  ...{ id, seid: fc.option(fc.string()), name: text, first_name: text, last_name: text },
  email: fc.emailAddress(),
  ...{ organization_id: id, organization_name: text },
  ...{ assessment_name: text, certified_on: day },
  results: fc.array(part, { minLength: 1, maxLength: 4 }),
});

/** Every record that is read has the first two fields: null if the partner has sent none. */
const ofPerson = ['seid', 'name', 'first_name', 'last_name', 'email', 'organization_name'];
const contents = ['organization_id', 'assessment_name', ...ofPerson, 'results'];

/** Any record that can be announced. Documented fields may be null or absent. */
export const anyRecord: fc.Arbitrary<Assessment> = fc
  .tuple(anyAssessment, fc.subarray(contents), fc.subarray(contents.slice(2)))
  .map(([complete, nulls, absent]) => {
    const record: Assessment = { ...complete };
    for (const field of nulls) record[field] = null;
    for (const field of absent) delete record[field];
    const parts = record.results?.map((part, index) =>
      nulls.length > index ? { ...part, proctor_name: null, certified_on: undefined } : part,
    );
    return parts ? { ...record, results: parts } : record;
  });
