/** The fields of an assessment that the document names (docs/partner.md, 2.2). */
export const assessmentFields = [
  'id',
  'seid',
  'name',
  'first_name',
  'last_name',
  'email',
  'organization_id',
  'organization_name',
  'assessment_name',
  'certified_on',
  'results',
] as const;
