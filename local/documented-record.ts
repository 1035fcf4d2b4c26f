import * as z from 'zod/mini';

/** A real calendar date, `YYYY-MM-DD`. */
const day = () => z.iso.date();

/** An element of `results`, exactly as documented (docs/partner.md, 2.3). */
export const documentedPartSchema = z.looseObject({
  assessment_id: z.int(),
  assessment_name: z.string(),
  certified_on: day(),
  proctor_id: z.int(),
  proctor_name: z.string(),
});

/**
 * A record, exactly as documented (docs/partner.md, 2.2). The sandbox serves it, and the conformance suite requires it.
 * The notifier itself also announces records that lack fields (`lambda/events/assessment.ts`).
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
