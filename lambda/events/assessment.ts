import * as z from 'zod/mini';

/**
 * Adds a description for the contract, and perhaps a name in it, which generators of types take. `z.describe` would do
 * so by a check, which zod would run for every field of every record that is read.
 */
export function described<Schema extends z.core.$ZodType>(
  schema: Schema,
  description: string,
  id?: string,
): Schema {
  z.globalRegistry.add(schema, { description, ...(id !== undefined && { id, title: id }) });
  return schema;
}

/** A real calendar date as the API writes it (`YYYY-MM-DD`); 31 February is refused. */
const day = () => z.iso.date();

/**
 * A field that the partner may send as null or leave out: only `id` and `certified_on` are certain.
 */
function content<Schema extends z.core.$ZodType>(schema: Schema, description: string) {
  return described(z.nullish(schema), description);
}

/** An element of `results` (docs/partner.md, 2.3). Undocumented fields pass through. */
export const resultPartSchema = described(
  z.looseObject({
    assessment_id: content(z.int(), 'ID of the part.'),
    assessment_name: content(z.string(), 'Name of the part.'),
    certified_on: content(day(), 'Date on which the part was completed.'),
    proctor_id: content(z.int(), "The partner's user ID of the proctor who supervised the part."),
    proctor_name: content(z.string(), "The proctor's name."),
  }),
  'One of the parts behind an assessment.',
  'ResultPart',
);

/**
 * An assessment as the API returns it (docs/partner.md, 2.2), under its own field names. It is
 * strict about identity and tolerant of content: a field may be null or absent even where the
 * document does not allow it. Undocumented fields pass through to subscribers.
 */
export const assessmentSchema = z.looseObject({
  id: described(
    z.int().check(z.positive()),
    'ID of the overall assessment; the `subject` of the event.',
  ),
  seid: content(z.string(), 'State Educator ID; null if none is recorded.'),
  name: content(z.string(), "The educator's full name."),
  first_name: content(z.string(), "The educator's given name."),
  last_name: content(z.string(), "The educator's family name."),
  email: content(z.string(), "The educator's e-mail address at the partner."),
  organization_id: described(
    z.nullable(z.int()),
    'Organization that the assessment belongs to; null if the partner has sent none.',
  ),
  organization_name: content(z.string(), 'Name of that organization.'),
  assessment_name: described(
    z.nullable(z.string()),
    'Name of the assessment; null if the partner has sent none.',
  ),
  certified_on: described(day(), 'Date on which the overall assessment was completed.'),
  results: content(z.array(resultPartSchema), 'The parts behind the assessment.'),
});

export type ResultPart = z.infer<typeof resultPartSchema>;
export type Assessment = z.infer<typeof assessmentSchema>;
