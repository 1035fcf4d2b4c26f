import * as z from 'zod/mini';

/** A real calendar date as the API writes it (`YYYY-MM-DD`); 31 February is refused. */
const day = z.iso.date();

/** Element of `results` (partner-api.md, 2.3). Fields that the document does not name are kept. */
export const resultPartSchema = z
  .looseObject({
    assessment_id: z.int().check(z.describe('ID of the part.')),
    assessment_name: z.string().check(z.describe('Name of the part.')),
    certified_on: day.check(z.describe('Date on which the part was completed.')),
    proctor_id: z
      .int()
      .check(z.describe('Platform user ID of the proctor who supervised the part.')),
    proctor_name: z.string().check(z.describe("The proctor's name.")),
  })
  .check(z.meta({ id: 'ResultPart', description: 'One of the parts behind an assessment.' }));

/**
 * An assessment as the API returns it (partner-api.md, 2.2), under its own field names.
 * Fields that the document does not name are kept and passed on to subscribers.
 */
export const assessmentSchema = z.looseObject({
  id: z
    .int()
    .check(z.positive(), z.describe('ID of the overall assessment; the `subject` of the event.')),
  seid: z.nullable(z.string()).check(z.describe('State Educator ID; null if none is recorded.')),
  name: z.string().check(z.describe("The educator's full name.")),
  first_name: z.string().check(z.describe("The educator's given name.")),
  last_name: z.string().check(z.describe("The educator's family name.")),
  email: z.string().check(z.describe("The educator's e-mail address on the platform.")),
  organization_id: z.int().check(z.describe('Organization that the assessment belongs to.')),
  organization_name: z.string().check(z.describe('Name of that organization.')),
  assessment_name: z.string().check(z.describe('Name of the assessment.')),
  certified_on: day.check(z.describe('Date on which the overall assessment was completed.')),
  results: z.array(resultPartSchema).check(z.describe('The parts behind the assessment.')),
});

export type ResultPart = z.infer<typeof resultPartSchema>;
export type Assessment = z.infer<typeof assessmentSchema>;
