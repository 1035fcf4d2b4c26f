import * as z from 'zod';

/** A real calendar date as the API writes it (`YYYY-MM-DD`); 31 February is refused. */
const day = z.iso.date();

/** Element of `results` (partner-api.md, 2.3). Fields that the document does not name are kept. */
export const resultPartSchema = z.looseObject({
  assessment_id: z.int(),
  assessment_name: z.string(),
  certified_on: day,
  proctor_id: z.int(),
  proctor_name: z.string(),
});

/**
 * An assessment as the API returns it (partner-api.md, 2.2), under its own field names.
 * Fields that the document does not name are kept and passed on to subscribers.
 */
export const assessmentSchema = z.looseObject({
  id: z.int().positive(),
  seid: z.string().nullable(),
  name: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  organization_id: z.int(),
  organization_name: z.string(),
  assessment_name: z.string(),
  certified_on: day,
  results: z.array(resultPartSchema),
});

export type ResultPart = z.infer<typeof resultPartSchema>;
export type Assessment = z.infer<typeof assessmentSchema>;
