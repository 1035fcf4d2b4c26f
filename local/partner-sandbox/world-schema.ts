import * as z from 'zod';

/** The fields of a person; they change in all of the person's records. */
const educatorFields = {
  first_name: z.string(),
  last_name: z.string(),
  /** Default while a given or family name is set: both, given name first. */
  name: z.string(),
  seid: z.string().nullable(),
  email: z.string(),
  status: z.enum(['active', 'archived']),
};

export const educatorFieldNames = Object.keys(educatorFields);

const assessmentFields = {
  organization_id: z.int(),
  product_id: z.int(),
  legacy: z.boolean(),
  /** In the partner's time zone, at any moment of that day. */
  certified_on: z.iso.date(),
  /** An instant with its offset; counts before `certified_on`. */
  completed_at: z.iso.datetime({ offset: true }),
  /** User ids, one for each entry of `results`; the last one supervises the rest. */
  proctor_ids: z.array(z.int()).min(1),
};

/** The input of `change`, under the API's own field names. */
export const changesSchema = z.strictObject({ ...educatorFields, ...assessmentFields }).partial();

/** The input of `add`; missing fields are invented. */
export const newAssessmentSchema = z
  .strictObject({
    ...educatorFields,
    ...assessmentFields,
    id: z.int().positive(),
    /** An existing educator, or the id of a new one. */
    user_id: z.int().positive(),
  })
  .partial();

/** How a record differs from its documented shape. */
export const damageSchema = z.strictObject({
  omit: z.array(z.string()).optional(),
  set: z.record(z.string(), z.unknown()).optional(),
});

export type Damage = z.input<typeof damageSchema>;
export type Changes = z.input<typeof changesSchema>;
export type NewAssessment = z.input<typeof newAssessmentSchema>;

/** Organizations and products by id that enter or leave the scope. */
export interface ScopeChange {
  readonly organization_ids?: readonly number[] | undefined;
  readonly product_ids?: readonly number[] | undefined;
}

/** Fields of a record that the API does not show, but that filters use. */
export interface Hidden {
  readonly user_id: number;
  readonly product_id: number;
  readonly status: 'active' | 'archived';
  readonly legacy: boolean;
  readonly completed_at: string;
  readonly in_scope: boolean;
  readonly removed: boolean;
}
