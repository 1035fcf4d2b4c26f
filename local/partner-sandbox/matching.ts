import type { ParsedQuery } from './query.ts';
import type { Records } from './records.ts';
import type { DayNumber } from './zone-days.ts';

export type Test = (slot: number) => boolean;

/** The visible records that a query selects: those of a range of days that pass every test. */
export interface Matching {
  readonly first: DayNumber;
  readonly last: DayNumber;
  readonly tests: readonly Test[];
}

/** Remembers the answer for each row of a table, so that a name is searched once for each person. */
function oncePer(
  table: { readonly size: number },
  test: (position: number) => boolean,
): (position: number) => boolean {
  const answers = new Uint8Array(table.size);
  return (position) => {
    if (answers[position] === 0) answers[position] = test(position) ? 1 : 2;
    return answers[position] === 1;
  };
}

/** Case-insensitive partial match; two words are also tried as first name, then last name. */
function searchTest(records: Records, search: string): Test {
  const { educators, products } = records.catalogue;
  const wanted = search.toLowerCase();
  const words = wanted.split(/\s+/);
  const [given, family] = words.length === 2 ? words : [];
  const productMatches = oncePer(products, (position) =>
    products.at(position).name.toLowerCase().includes(wanted),
  );
  const educatorMatches = oncePer(educators, (position) => {
    const educator = educators.at(position);
    const first = educator.first_name.toLowerCase();
    const last = educator.last_name.toLowerCase();
    if (first.includes(wanted) || last.includes(wanted)) return true;
    return (
      given !== undefined && family !== undefined && first.includes(given) && last.includes(family)
    );
  });
  return (slot) => productMatches(records.product(slot)) || educatorMatches(records.educator(slot));
}

/** One test per filter that the query carries, apart from the dates. */
export function filterTests(query: ParsedQuery, records: Records): Test[] {
  const { educators, proctors } = records.catalogue;
  const { productIds, userIds, seids, proctorIds, organizationIds, statuses, legacy } = query;
  const tests: Test[] = [];
  if (query.search !== undefined) tests.push(searchTest(records, query.search));
  if (productIds) tests.push((slot) => productIds.has(records.productId(slot)));
  if (userIds) tests.push((slot) => userIds.has(educators.at(records.educator(slot)).id));
  if (seids) {
    tests.push((slot) => {
      const { seid } = educators.at(records.educator(slot));
      return seid !== null && seids.has(seid);
    });
  }
  if (proctorIds) {
    tests.push((slot) =>
      records.proctors(slot).some((position) => proctorIds.has(proctors.at(position).id)),
    );
  }
  if (organizationIds) tests.push((slot) => organizationIds.has(records.organizationId(slot)));
  if (statuses) {
    tests.push((slot) =>
      statuses.has(educators.at(records.educator(slot)).archived ? 'archived' : 'active'),
    );
  }
  if (legacy) tests.push((slot) => legacy.has(records.isLegacy(slot)));
  return tests;
}

/** Section 4.2, filter rules 1 to 5: AND combines all filters. */
export function matching(query: ParsedQuery, records: Records): Matching {
  return {
    first: query.first ?? -Infinity,
    last: query.last ?? Infinity,
    tests: filterTests(query, records),
  };
}
