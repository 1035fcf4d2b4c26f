import type { ParsedQuery } from './query.ts';
import type { Row } from './rows.ts';

export type Test = (row: Row) => boolean;

/** The rows that a query selects: those of a range of days (`YYYY-MM-DD`) that pass every test. */
export interface Matching {
  readonly first: string | undefined;
  readonly last: string | undefined;
  readonly tests: readonly Test[];
}

/** Case-insensitive partial match; two words are also tried as first name, then last name. */
function searchTest(search: string): Test {
  const wanted = search.toLowerCase();
  const [given, family, ...more] = wanted.split(/\s+/);
  return ({ assessment: { assessment_name, first_name, last_name } }) => {
    const [product, first, last] = [assessment_name, first_name, last_name].map(
      (text) => text?.toLowerCase() ?? '',
    );
    if ([product, first, last].some((text) => text?.includes(wanted))) return true;
    const isPair = given !== undefined && family !== undefined && more.length === 0;
    return isPair && first?.includes(given) === true && last?.includes(family) === true;
  };
}

function isOneOf<T>(wanted: ReadonlySet<T>, value: T | null | undefined): boolean {
  return value !== null && value !== undefined && wanted.has(value);
}

/** One test per filter that the query carries, apart from the dates. */
export function filterTests(query: ParsedQuery): Test[] {
  const { search, productIds, userIds, seids, proctorIds, organizationIds, statuses, legacy } =
    query;
  const tests: Test[] = [];
  if (search !== undefined) tests.push(searchTest(search));
  if (productIds) tests.push(({ product_id }) => isOneOf(productIds, product_id));
  if (userIds) tests.push(({ user_id }) => isOneOf(userIds, user_id));
  if (seids) tests.push(({ assessment }) => isOneOf(seids, assessment.seid));
  if (proctorIds)
    tests.push(
      ({ assessment }) =>
        assessment.results?.some(({ proctor_id }) => isOneOf(proctorIds, proctor_id)) ?? false,
    );
  if (organizationIds)
    tests.push(({ assessment }) => isOneOf(organizationIds, assessment.organization_id));
  if (statuses) tests.push(({ archived }) => statuses.has(archived ? 'archived' : 'active'));
  if (legacy) tests.push((row) => legacy.has(row.legacy));
  return tests;
}

/** Section 4.2, filter rules 1 to 5: AND combines all filters. */
export function matching(query: ParsedQuery): Matching {
  return { first: query.first, last: query.last, tests: filterTests(query) };
}
