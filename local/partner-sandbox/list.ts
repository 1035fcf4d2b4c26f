import type { Matching } from './matching.ts';
import type { ParsedQuery, Sort } from './query.ts';
import type { Row, RowsByDay } from './rows.ts';

/** The order of names in a database with an English collation: case and accents count last. */
const { compare } = new Intl.Collator('en');

/** The key that `sort=user_name` compares, on which the document is silent. `ignored`: the host does not sort. */
export type UserNameOrder = 'name' | 'last_name' | 'first_name' | 'last_then_first' | 'ignored';

/** The parts of the order that the document leaves open. */
export interface Ordering {
  readonly userName: UserNameOrder;
  /** Decides among equals, called once for each; undefined: their ids do. */
  readonly tie: ((row: Row) => number) | undefined;
}

export interface Matches<R extends Row> {
  /** The number of all matches, ignoring paging. */
  readonly count: number;
  readonly rows: readonly R[];
}

/** The rows and the count of a list answer: one consistent view of the partner (docs/partner.md, 4.2). */
export function list<R extends Row>(
  byDay: RowsByDay<R>,
  { sort, descending, offset, page }: ParsedQuery,
  { first, last, tests }: Matching,
  { userName, tie }: Ordering,
): Matches<R> {
  const days = byDay.between(first, last);
  const isMatch = (row: R) => tests.every((test) => test(row));
  const matchesOn = (day: string) =>
    tests.length === 0 ? byDay.on(day) : byDay.on(day).filter(isMatch);
  const end = offset + page;
  if (sort !== 'certified_on' && userName !== 'ignored') {
    const matches = inOrder(days.flatMap(matchesOn), keyOf(sort, userName), descending, tie);
    return { count: matches.length, rows: matches.slice(offset, end) };
  }
  const rows: R[] = [];
  let count = 0;
  // The rows of a day tie. Days before and after the page are only counted.
  for (const day of descending ? days.toReversed() : days) {
    const matches = matchesOn(day);
    if (count < end && count + matches.length > offset) {
      const ordered = tie === undefined ? matches : inOrder(matches, () => '', false, tie);
      rows.push(...ordered.slice(Math.max(0, offset - count), end - count));
    }
    count += matches.length;
  }
  return { count, rows };
}

/** By the key, and equals by `tie`, also if the order descends. */
function inOrder<R extends Row>(
  rows: readonly R[],
  key: (row: Row) => string,
  descending: boolean,
  tie: Ordering['tie'] = ({ assessment }) => assessment.id,
): R[] {
  const keyed = rows.map((row) => ({ row, name: key(row), tie: tie(row) }));
  const direction = descending ? -1 : 1;
  keyed.sort((a, b) => direction * compare(a.name, b.name) || a.tie - b.tie);
  return keyed.map(({ row }) => row);
}

function keyOf(sort: Sort, userName: UserNameOrder): (row: Row) => string {
  if (sort === 'product_name') return ({ assessment }) => assessment.assessment_name ?? '';
  // Parts may have different proctors. The first entry of `results` decides.
  if (sort === 'proctor_name')
    return ({ assessment }) => assessment.results?.[0]?.proctor_name ?? '';
  if (userName === 'last_then_first')
    return ({ assessment: { last_name, first_name } }) => `${last_name ?? ''}\t${first_name ?? ''}`;
  const field = userName === 'ignored' ? 'name' : userName;
  return ({ assessment }) => assessment[field] ?? '';
}
