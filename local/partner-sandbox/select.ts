import type { Matching } from './matching.ts';
import type { ParsedQuery } from './query.ts';
import { scramble } from './random.ts';
import type { Records } from './records.ts';

/** The parts of the order that the document leaves open. */
export interface Ordering {
  /** The sort key of `sort=user_name`. */
  readonly userName: 'name' | 'last_name';
  /** Ties are ordered by id, or, with a salt, in an order that depends on the salt. */
  readonly tieSalt: number | undefined;
}

export interface Matches {
  /** The number of all matches, ignoring paging. */
  readonly count: number;
  readonly slots: readonly number[];
}

/**
 * The rows and the count of a list answer: one consistent view of the world now. `remember` may give the order of an
 * earlier call with the same query.
 */
export function select(
  records: Records,
  query: ParsedQuery,
  matching: Matching,
  ordering: Ordering,
  remember = (sort: () => readonly number[]) => sort(),
): Matches {
  if (query.sort === 'certified_on') return selectByDay(records, query, matching, ordering);
  const slots = remember(() => sortByName(records, query, matching, ordering));
  return { count: slots.length, slots: slots.slice(query.offset, query.offset + query.page) };
}

function passes(matching: Matching, slot: number): boolean {
  for (const test of matching.tests) if (!test(slot)) return false;
  return true;
}

/** Walks through the days in order; days before and after the page are only counted. */
function selectByDay(
  records: Records,
  query: ParsedQuery,
  matching: Matching,
  ordering: Ordering,
): Matches {
  const { visible } = records;
  const days = visible.daysBetween(matching.first, matching.last);
  const end = query.offset + query.page;
  const slots: number[] = [];
  let count = 0;
  for (const day of query.descending ? days.toReversed() : days) {
    const visibleThen = visible.on(day);
    const onDay =
      matching.tests.length > 0
        ? visibleThen.filter((slot) => passes(matching, slot))
        : visibleThen;
    const from = count;
    count += onDay.length;
    if (count > query.offset && from < end) {
      const rows = inTieOrder(records, onDay, ordering.tieSalt);
      for (const slot of rows.slice(Math.max(0, query.offset - from), end - from)) slots.push(slot);
    }
  }
  return { count, slots };
}

function sortByName(
  records: Records,
  query: ParsedQuery,
  matching: Matching,
  ordering: Ordering,
): readonly number[] {
  const { visible } = records;
  const rankOf = nameRank(records, query, ordering);
  const rows: { slot: number; rank: number; tie: number }[] = [];
  for (const day of visible.daysBetween(matching.first, matching.last)) {
    for (const slot of visible.on(day)) {
      if (!passes(matching, slot)) continue;
      rows.push({ slot, rank: rankOf(slot), tie: tieRank(records, slot, ordering.tieSalt) });
    }
  }
  const direction = query.descending ? -1 : 1;
  rows.sort((a, b) => direction * (a.rank - b.rank) || a.tie - b.tie);
  return rows.map(({ slot }) => slot);
}

function nameRank(
  records: Records,
  { sort }: ParsedQuery,
  { userName }: Ordering,
): (slot: number) => number {
  const { ranks } = records.catalogue;
  if (sort === 'product_name') return (slot) => ranks.product.rank(records.product(slot));
  // Parts may have different proctors. The first entry of `results` decides.
  if (sort === 'proctor_name') return (slot) => ranks.proctor.rank(records.firstProctor(slot));
  return (slot) => ranks[userName].rank(records.educator(slot));
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
