import type { FilterConfig } from './config/filter.ts';

/** A key for each message attribute. A message has to match every key, by any of its values. */
export type FilterPolicy = Readonly<Record<string, readonly FilterValue[]>>;
type FilterValue = string | { readonly numeric: readonly ['=', number] };

/** Translates a filter into SNS's filter policy, over the message attributes of an event. */
export function filterPolicyOf(filter: FilterConfig): FilterPolicy {
  const { types, organizations, assessments, integrations, late } = filter;
  return {
    ...(types && { type: types.map((type) => `certification.${type}`) }),
    ...(organizations && {
      organization_id: organizations.map((id) => ({ numeric: ['=', id] as const })),
    }),
    ...(assessments && { assessment_name: assessments }),
    ...(integrations && { integration: integrations }),
    ...(late !== undefined && { late: [String(late)] }),
  };
}
