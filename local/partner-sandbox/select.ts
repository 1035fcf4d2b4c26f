import type { Matching } from './matching.ts';
import type { ListQuery } from './query.ts';
import { scramble } from './random.ts';
import type { Records } from './records.ts';

/** What the document leaves open about the order of rows. */
export interface Ordering {
  /** What `sort=user_name` compares. */
  readonly userName: 'name' | 'last_name';
  /** Ties are ordered by id, or, given a salt, by an order of that salt's own. */
  readonly tieSalt: number | undefined;
}

export interface Selection {
  /** All matches, ignoring paging. */
  readonly count: number;
  readonly slots: readonly number[];
}

/** Order of names as a database with an English collation has it: case and accents come last. */
const { compare } = new Intl.Collator('en');

/** A list answer's rows and count: one consistent slice of the world as it is now. */
export function select(
  records: Records,
  query: ListQuery,
  matching: Matching,
  ordering: Ordering,
): Selection {
  return query.sort === 'certified_on'
    ? selectByDay(records, query, matching, ordering)
    : selectByName(records, query, matching, ordering);
}

function passes(matching: Matching, slot: number): boolean {
  for (const test of matching.tests) if (!test(slot)) return false;
  return true;
}

/** Walks days in order; those before and after the page are only counted. */
function selectByDay(
  records: Records,
  query: ListQuery,
  matching: Matching,
  ordering: Ordering,
): Selection {
  const { visible } = records;
  const days = visible.daysBetween(matching.first, matching.last);
  const end = query.offset + query.page;
  const slots: number[] = [];
  let count = 0;
  for (let index = 0; index < days.length; index++) {
    const day = days[query.descending ? days.length - 1 - index : index];
    if (day === undefined) break;
    let onDay = visible.on(day);
    if (matching.tests.length > 0) onDay = onDay.filter((slot) => passes(matching, slot));
    const from = count;
    count += onDay.length;
    if (count > query.offset && from < end) {
      const rows = inTieOrder(records, onDay, ordering.tieSalt);
      for (const slot of rows.slice(Math.max(0, query.offset - from), end - from)) slots.push(slot);
    }
  }
  return { count, slots };
}

function selectByName(
  records: Records,
  query: ListQuery,
  matching: Matching,
  ordering: Ordering,
): Selection {
  const { visible } = records;
  const nameOf = sortName(records, query, ordering);
  const rows: { slot: number; name: string; tie: number }[] = [];
  for (const day of visible.daysBetween(matching.first, matching.last)) {
    for (const slot of visible.on(day)) {
      if (!passes(matching, slot)) continue;
      rows.push({ slot, name: nameOf(slot), tie: tieRank(records, slot, ordering.tieSalt) });
    }
  }
  const direction = query.descending ? -1 : 1;
  rows.sort((a, b) => direction * compare(a.name, b.name) || a.tie - b.tie);
  return {
    count: rows.length,
    slots: rows.slice(query.offset, query.offset + query.page).map(({ slot }) => slot),
  };
}

function sortName(
  records: Records,
  { sort }: ListQuery,
  { userName }: Ordering,
): (slot: number) => string {
  const { educators, products, proctors } = records.catalogue;
  if (sort === 'product_name') return (slot) => products.at(records.product(slot)).name;
  // Parts may have different proctors; the first entry of `results` decides.
  if (sort === 'proctor_name') return (slot) => proctors.at(records.firstProctor(slot)).name;
  return (slot) => educators.at(records.educator(slot))[userName];
}

function tieRank(records: Records, slot: number, salt: number | undefined): number {
  const id = records.id(slot);
  return salt === undefined ? id : scramble(id, salt);
}

function inTieOrder(
  records: Records,
  slots: readonly number[],
  salt: number | undefined,
): readonly number[] {
  if (salt === undefined) return slots;
  return slots.toSorted((a, b) => tieRank(records, a, salt) - tieRank(records, b, salt));
}
