import fc from 'fast-check';
import type { Assessment } from '../../lambda/events/assessment.ts';

/** An invented assessment without parts: its one result describes itself (partner-api.md, 2.3). */
export function assessment(overrides: Partial<Assessment> = {}): Assessment {
  const id = overrides.id ?? 48_213;
  const name = overrides.assessment_name ?? 'Rope Bridge Safety';
  const day = overrides.certified_on ?? '2026-11-20';
  return {
    id,
    seid: `SEID-${id}`,
    name: 'Odalys Quillfeather',
    first_name: 'Odalys',
    last_name: 'Quillfeather',
    email: `educator-${id}@example.org`,
    organization_id: 7,
    organization_name: 'Larkspur Valley Schools',
    assessment_name: name,
    certified_on: day,
    results: [
      {
        assessment_id: id,
        assessment_name: name,
        certified_on: day,
        proctor_id: 901,
        proctor_name: 'Ansel Thornbury',
      },
    ],
    ...overrides,
  };
}

const day = fc
  .date({
    min: new Date('2000-01-01T00:00:00Z'),
    max: new Date('2100-01-01T00:00:00Z'),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString().slice(0, 10));

const part = fc.record({
  assessment_id: fc.integer({ min: 1 }),
  assessment_name: fc.string({ unit: 'grapheme' }),
  certified_on: day,
  proctor_id: fc.integer({ min: 1 }),
  proctor_name: fc.string({ unit: 'grapheme' }),
});

/** Any record that the document allows. */
export const anyAssessment: fc.Arbitrary<Assessment> = fc.record({
  id: fc.integer({ min: 1 }),
  seid: fc.option(fc.string()),
  name: fc.string({ unit: 'grapheme' }),
  first_name: fc.string({ unit: 'grapheme' }),
  last_name: fc.string({ unit: 'grapheme' }),
  email: fc.emailAddress(),
  organization_id: fc.integer({ min: 1 }),
  organization_name: fc.string({ unit: 'grapheme' }),
  assessment_name: fc.string({ unit: 'grapheme' }),
  certified_on: day,
  results: fc.array(part, { minLength: 1, maxLength: 4 }),
});
