import * as z from 'zod/mini';

/** A real calendar date, `YYYY-MM-DD`. */
const day = () => z.iso.date();

/** Element of `results` to the letter of the document (docs/partner.md, 2.3). */
export const documentedPartSchema = z.looseObject({
  assessment_id: z.int(),
  assessment_name: z.string(),
  certified_on: day(),
  proctor_id: z.int(),
  proctor_name: z.string(),
});

/**
 * A record to the letter of the document (docs/partner.md, 2.2): the sandbox serves it, and the conformance suite
 * asks for it. The notifier itself announces records that have less (`lambda/events/assessment.ts`).
 */
export const documentedRecordSchema = z.looseObject({
  id: z.int().check(z.positive()),
  seid: z.nullable(z.string()),
  name: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  organization_id: z.int(),
  organization_name: z.string(),
  assessment_name: z.string(),
  certified_on: day(),
  results: z.array(documentedPartSchema),
});

export type DocumentedRecord = z.infer<typeof documentedRecordSchema>;
